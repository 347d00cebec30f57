// The controller's own check of both components: objects that the operator created for any instance are rejected, also
// without admission.
import { describe, expect, test } from "vitest";
import { instance } from "../../../test/harness/fixtures/manifests.ts";
import { LOOKS_OWNED, OPERATOR_OWNED } from "../../../test/harness/fixtures/operator-owned-templates.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { validateTemplates } from "./validate-instance.ts";

describe.each(["metadata", "gateway"] as const)("%s", (component) => {
  const judged = (spec: object) =>
    validateTemplates(instance({ name: "lakeside", [component]: { template: { spec } } }) as FireboltInstance)[
      component
    ];

  test.each(OPERATOR_OWNED)("$what", ({ spec, path }) => {
    const isFree = component === "gateway" && path === "spec.serviceAccountName";
    expect(judged(spec).map((violation) => violation.path)).toEqual(
      isFree ? [] : [`spec.${component}.template.${path}`],
    );
  });

  test.each(LOOKS_OWNED)("$what is the user's own", ({ spec }) => {
    expect(judged(spec)).toEqual([]);
  });
});
