// Random templates and quantities on the real API server: the webhook agrees with the validators, a template that the rules accept
// makes a StatefulSet that the API server accepts, and bounds compare quantities as the API server itself compares them.
import { valueAt } from "@firebolt-operator/kube/testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseQuantity, roundedToMilli } from "../../src/api/values/quantity.ts";
import { validateEngine } from "../../src/engine/model/validate.ts";
import { validateTemplate } from "../../src/podtemplate/rules/validate-template.ts";
import { violationsText } from "../../src/podtemplate/rules/violation.ts";
import { render } from "../engine/support/rendered-fixtures.ts";
import { engine } from "../harness/fixtures/manifests.ts";
import { spoiledTemplate } from "./support/arbitraries.ts";
import { openWebhookHarness, type WebhookHarness } from "./support/webhook-harness.ts";

let harness: WebhookHarness;
beforeAll(async () => {
  harness = await openWebhookHarness("admission-fuzz");
});
afterAll(() => harness[Symbol.asyncDispose]());

const dryRun = (path: string, body: object) => harness.api.send({ method: "POST", path: `${path}?dryRun=All`, body });

test("templates: webhook, validators and API server agree", async () => {
  const counts = { accepted: 0, refused: 0 };
  const engines = `/apis/compute.firebolt.io/v1alpha1/namespaces/${harness.namespace}/fireboltengines`;
  await fc.assert(
    fc.asyncProperty(spoiledTemplate, async ({ template }) => {
      const violations = validateTemplate("engine", template, "spec.template");
      const answer = await dryRun(engines, engine({ name: "e", template }));
      if (violations.length > 0) {
        counts.refused += 1;
        expect(answer.status).toBe(403);
        expect(valueAt(answer.body, ["message"])).toBe(
          `admission webhook "vfireboltengine.compute.firebolt.io" denied the request: ${violationsText(violations)}`,
        );
        return;
      }
      counts.accepted += 1;
      expect([answer.status, valueAt(answer.body, ["message"])]).toEqual([201, undefined]);
      const { statefulSet } = render({ engine: { template } }, { namespace: harness.namespace });
      const stored = await dryRun(`/apis/apps/v1/namespaces/${harness.namespace}/statefulsets`, statefulSet);
      expect([stored.status, valueAt(stored.body, ["message"])]).toEqual([201, undefined]);
    }),
    { numRuns: 250 },
  );
  expect(counts.accepted).toBeGreaterThan(10);
  expect(counts.refused).toBeGreaterThan(100);
  console.info(
    `templates on the API server: ${counts.accepted} accepted, ${counts.refused} rejected, all as predicted`,
  );
});

test("bounds: quantities compare as in the API server", async () => {
  const digits = fc.oneof(
    fc.nat(9_999).map(String),
    fc.tuple(fc.nat(999), fc.nat(999)).map(([a, b]) => `${a}.${b}`),
  );
  const suffix = fc.constantFrom("", "m", "k", "M", "Ki", "Mi", "Gi", "e3", "E2", "e-2", "u", "n");
  const quantity = fc.tuple(digits, suffix).map(([number, unit]) => number + unit);
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(quantity, quantity, async (value, bound) => {
      const [left, right] = [parseQuantity(value), parseQuantity(bound)];
      if (left === undefined || right === undefined || right === 0n || left === 0n) return;
      // Pods keep thousandths at the finest: what only differs below that is the same to them.
      if (left !== right && roundedToMilli(left) === roundedToMilli(right)) return;
      compared += 1;
      const template = { spec: { containers: [{ name: "engine", resources: { requests: { cpu: value } } }] } };
      const validated = { metadata: { name: "e" }, spec: { instanceRef: "i", replicas: 1, storage: {}, template } };
      const { bounds } = validateEngine({ engine: validated, engineClass: undefined, bounds: { cpu: bound } });
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: {
          containers: [{ name: "c", image: "i", resources: { requests: { cpu: value }, limits: { cpu: bound } } }],
        },
      };
      const answer = await dryRun(`/api/v1/namespaces/${harness.namespace}/pods`, pod);
      expect([value, bound, answer.status === 201]).toEqual([value, bound, bounds.length === 0]);
    }),
    { numRuns: 400 },
  );
  expect(compared).toBeGreaterThan(150);
  console.info(`quantities compared with the API server: ${compared}`);
});
