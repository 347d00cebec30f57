// Responses and validators with random input: always a verdict, the same verdict twice, allowed only without violations,
// and every denied field named.
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyManifest, spoiledTemplate } from "../../../test/admission/support/arbitraries.ts";
import { hookOf, parseResponse, review } from "../../../test/admission/support/review-fixtures.ts";
import { engine, engineClass, instance } from "../../../test/harness/fixtures/manifests.ts";
import { validateTemplate } from "../../podtemplate/rules/validate-template.ts";
import { violationsText } from "../../podtemplate/rules/violation.ts";
import { HOOKS, type HookId } from "../registration/hooks.ts";
import { createValidators } from "../validators/create-validators.ts";
import { respondToReview } from "./respond-to-review.ts";

const validators = createValidators({
  lookups: {
    engineClass: async () => undefined,
    instance: async () => undefined,
    enginesOfClass: async () => [],
    retainedId: async () => undefined,
    claimSize: async () => undefined,
    engineExists: async () => true,
  },
  bounds: {},
  clock: systemClock,
  logger: silentLogger,
});
const signal = new AbortController().signal;

function validate(id: HookId, object: unknown, operation = "CREATE") {
  const context = { hook: hookOf(id), validator: validators[id], logger: silentLogger, signal };
  return respondToReview(
    JSON.stringify(review(id, { operation, object, oldObject: operation === "CREATE" ? null : object })),
    context,
  );
}

test("any object gets a verdict, and the same verdict again", async () => {
  const hooks = HOOKS.flatMap(({ id, operations }) => operations.map((operation) => ({ id, operation })));
  await fc.assert(
    fc.asyncProperty(anyManifest, fc.constantFrom(...hooks), async (object, { id, operation }) => {
      const first = await validate(id, object, operation);
      expect(first.status).toBe(200);
      expect(typeof parseResponse(first.body).allowed).toBe("boolean");
      if (id !== "mutate-instance") expect(await validate(id, object, operation)).toEqual(first);
    }),
    { numRuns: 3_000 },
  );
});

test("any string gets a response, and is never allowed", async () => {
  const context = {
    hook: hookOf("validate-engine"),
    validator: validators["validate-engine"],
    logger: silentLogger,
    signal,
  };
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json(), fc.string({ unit: "binary" })), async (text) => {
      expect(await respondToReview(text, context)).toMatchObject({ status: 400, type: "problem" });
    }),
    { numRuns: 2_000 },
  );
});

test("every denied field is named, no other is, and a denied field is never allowed", async () => {
  await fc.assert(
    fc.asyncProperty(spoiledTemplate, async ({ template, paths }) => {
      const violations = validateTemplate("engine", template, "spec.template");
      expect(violations.map(({ path }) => path).toSorted()).toEqual(
        paths.map((path) => `spec.template.${path}`).toSorted(),
      );
      for (const [id, object] of [
        ["validate-engine", engine({ name: "e", template })],
        ["validate-engine-class", engineClass({ name: "c", template })],
      ] as const) {
        const response = parseResponse((await validate(id, object)).body);
        expect(response.allowed).toBe(paths.length === 0);
        if (paths.length > 0 && id === "validate-engine-class")
          expect(response.status?.message).toBe(violationsText(violations));
      }
    }),
    { numRuns: 1_500 },
  );
});

test("template validators never throw, for any value", () => {
  fc.assert(
    fc.property(
      fc.oneof(anyManifest, fc.jsonValue()),
      fc.constantFrom("engine", "gateway", "metadata"),
      (template, component) => {
        const violations = validateTemplate(component, template, "p");
        expect(validateTemplate(component, template, "p")).toEqual(violations);
        expect(typeof violationsText(violations)).toBe("string");
      },
    ),
    { numRuns: 3_000 },
  );
});

test("a template of the gateway or of the metadata service is validated as part of its instance", async () => {
  await fc.assert(
    fc.asyncProperty(anyManifest, fc.constantFrom("gateway", "metadata"), async (template, component) => {
      const violations = validateTemplate(component, template, `spec.${component}.template`);
      const object = instance({ name: "i", [component]: { template } });
      const { allowed } = parseResponse((await validate("validate-instance", object)).body);
      if (violations.length > 0) expect(allowed).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});
