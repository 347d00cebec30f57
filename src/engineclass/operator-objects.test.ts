// A class whose template uses objects of the operator reports that it cannot be used.
import { expect, test } from "vitest";
import { engineClass } from "../../test/engine/support/fixtures.ts";
import { OPERATOR_OWNED } from "../../test/harness/fixtures/operator-owned-templates.ts";
import { FireboltEngineClass } from "../api/firebolt-engine/engine-class.ts";
import { computeEngineClass } from "./compute.ts";

test.each(OPERATOR_OWNED.filter(({ path }) => /claimName|serviceAccountName/.test(path)))("$what", (row) => {
  const guarded = engineClass({
    metadata: { name: "c", finalizers: [FireboltEngineClass.finalizer] },
    spec: { template: { spec: row.spec }, storage: {} },
  });
  const decision = computeEngineClass({ engineClass: guarded, boundEngines: 0, nowMs: 0 });
  const message = expect.stringContaining(`spec.template.${row.path}: Forbidden: ${row.names}`);
  expect(decision).toMatchObject({
    type: "judge",
    status: { conditions: [{ type: "Ready", status: "False", reason: "OperatorOwnedFieldSet", message }] },
  });
});
