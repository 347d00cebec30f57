// Every invalid manifest of test/harness/fixtures that the CRDs themselves must reject, sent to the real API server:
// the response is 422 (400 for strict decoding) and names the field. Rows about updates and features not available yet
// have their own files.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CustomResourceApi, openCustomResourceApi } from "../harness/control-plane/custom-resource-api.ts";
import { createNamespace } from "../harness/control-plane/requests.ts";
import { INVALID_MANIFESTS } from "../harness/fixtures/invalid-manifests.ts";
import { manifest, SMALLEST } from "../harness/fixtures/manifests.ts";

let resources: CustomResourceApi;
let namespace: string;
beforeAll(async () => {
  resources = openCustomResourceApi();
  namespace = await createNamespace("refusals");
});
afterAll(() => resources[Symbol.dispose]());

test.each(INVALID_MANIFESTS)("$kind with $what", async ({ kind, spec, whole, refuses }) => {
  const content = whole === undefined ? { ...SMALLEST[kind], ...spec } : whole.spec;
  const verdict = await resources.create(manifest(kind, { name: "refused", namespace }, content));
  expect(verdict).toMatchObject({ type: "refused", status: 422 });
  if (verdict.type !== "refused") return;
  for (const [field, says] of Object.entries(refuses)) {
    const messages = verdict.causes.filter((cause) => cause.field === field).map((cause) => cause.message);
    expect(messages).toContainEqual(expect.stringMatching(says));
    expect(verdict.message).toContain(`${field}: `);
  }
});

test("FireboltEngine with an unknown field", async () => {
  const content = { ...SMALLEST.FireboltEngine, image: "x" };
  const verdict = await resources.create(manifest("FireboltEngine", { name: "refused", namespace }, content));
  expect(verdict).toMatchObject({ type: "refused", status: 400 });
  expect(verdict).toHaveProperty("message", expect.stringContaining('unknown field "spec.image"'));
});

test.each(["", "5", "1d", "5 s", "1h 30m", "one minute", "9223372036854775808ns", "300000000h"])(
  "go-durations: the duration %j is rejected by name",
  async (drainCheckInterval) => {
    const content = { ...SMALLEST.FireboltEngineClass, drainCheckInterval };
    const verdict = await resources.create(manifest("FireboltEngineClass", { name: "refused", namespace }, content));
    expect(verdict).toMatchObject({ type: "refused", status: 422 });
    expect(verdict).toHaveProperty(
      "causes",
      expect.arrayContaining([
        { field: "spec.drainCheckInterval", message: expect.stringContaining("must be a Go duration") },
      ]),
    );
  },
);

test.each([
  ["FireboltEngine", { replicas: 1_001 }, "spec.replicas"],
  ["FireboltEngine", { autoStop: { enabled: true, activeReplicas: 100_000 } }, "spec.autoStop.activeReplicas"],
  ["FireboltInstance", { gateway: { replicas: 1_000_000 } }, "spec.gateway.replicas"],
] as const)("%s with more pods than one may have: %j", async (kind, spec, field) => {
  const verdict = await resources.create(
    manifest(kind, { name: "refused", namespace }, { ...SMALLEST[kind], ...spec }),
  );
  expect(verdict).toMatchObject({ type: "refused", status: 422 });
  const message = expect.stringContaining("less than or equal to 1000");
  expect(verdict).toHaveProperty("causes", expect.arrayContaining([{ field, message }]));
});
