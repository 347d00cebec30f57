// Templates cannot use objects of the operator, without admission too: the controller rejects the template, or omits
// the volume.
import { describe, expect, test } from "vitest";
import { absentSet, engine, engineClass, instanceReady, snapshot } from "../../../test/engine/support/fixtures.ts";
import {
  LOOKS_OWNED,
  OPERATOR_OWNED,
  type OperatorOwned,
  OWN_OF_OPERATOR,
} from "../../../test/harness/fixtures/operator-owned-templates.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { computeEngine } from "./compute-engine.ts";

const NAMESPACE = engine().metadata?.namespace ?? "";
const operator = { namespace: NAMESPACE, account: { namespace: NAMESPACE, name: "operator" }, secrets: ["hooks"] };
const status = { phase: "creating", currentGeneration: 0, activeGeneration: -1, conditions: [instanceReady] };

const computed = (own: PodTemplateFragment, inherited: PodTemplateFragment, isHome = true) =>
  computeEngine(
    snapshot(engine({ spec: { engineClassRef: "c", template: own }, status }), {
      current: absentSet(0),
      engineClass: { type: "found", object: engineClass({ spec: { template: inherited, storage: {} } }) },
      defaults: {
        ...OPERATOR_DEFAULTS,
        operator: isHome ? operator : { ...operator, namespace: "x", account: undefined },
      },
    }),
  );

function expectProtected(decision: ReturnType<typeof computeEngine>, { path, names, leftOut }: OperatorOwned): void {
  if (leftOut === true) {
    if (decision.type !== "hold") throw new Error(`a ${decision.type}`);
    expect(decision.leftOut).toMatchObject([{ volume: "v", secret: names.replaceAll('"', "") }]);
    expect(JSON.stringify(decision.ensure)).not.toContain(names);
    return;
  }
  expect(decision).toMatchObject({ type: "refuse", refusal: { message: expect.stringContaining(`${path}`) } });
  if (decision.type === "refuse") expect(decision.refusal.message).toContain(names);
}

describe("what the operator made", () => {
  const rows = [...OPERATOR_OWNED, ...OWN_OF_OPERATOR];

  test.each(rows)("an engine does not get $what", (row) => {
    expectProtected(computed({ spec: row.spec }, {}), row);
  });

  test.each(rows)("nor by its class: $what", (row) => {
    expectProtected(computed({}, { spec: row.spec }), row);
  });
});

test.each(OWN_OF_OPERATOR)("in another namespace than the operator's it may use $what", ({ spec }) => {
  expect(computed({ spec }, {}, false)).toMatchObject({ type: "hold" });
});

test.each(LOOKS_OWNED.filter(({ what }) => !what.includes("my-webhook-cert")))("it may use $what", ({ spec }) => {
  const decision = computed({ spec }, {});
  expect(decision.type).toBe("hold");
  if (decision.type === "hold") expect(decision.leftOut ?? []).toEqual([]);
});
