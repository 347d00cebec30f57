// Pod Security "restricted" is enforced where engines and gateways run, and where the operator runs: no pod violates
// it. The test also shows that a violating pod is rejected.
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR_NAMESPACE } from "../../dev/deploy/charts.ts";
import { LABEL } from "../../src/api/labels.ts";
import { type ClusterHarness, openClusterHarness, settled } from "./support/cluster-harness.ts";
import { ENGINE, NAMESPACE } from "./support/platform.ts";

const ENFORCE = "pod-security.kubernetes.io/enforce";

let harness: ClusterHarness;

beforeAll(async () => {
  harness = await openClusterHarness();
});
afterAll(() => harness?.[Symbol.dispose]());

/** What the running pods of a namespace are: an engine's name, a component, or the name of a program. */
async function runningIn(namespace: string): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/pods?fieldSelector=status.phase%3DRunning`;
  const items = valueAt((await harness.api.expect({ path })).body, ["items"]);
  const label = (pod: unknown, name: string): unknown => valueAt(pod, ["metadata", "labels", name]);
  return (Array.isArray(items) ? items : []).map((pod) =>
    String(label(pod, LABEL.engine) ?? label(pod, LABEL.component) ?? label(pod, "app.kubernetes.io/name")),
  );
}

const ordinaryPod = (name: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "main", image: "localhost/any:1" }] },
});

test.each([
  { namespace: NAMESPACE, runs: [ENGINE, "gateway", "metadata", "postgres"] },
  { namespace: OPERATOR_NAMESPACE, runs: ["firebolt-operator"] },
])("everything in $namespace runs under Pod Security restricted", async ({ namespace, runs }) => {
  await settled(harness, ENGINE);
  const { body } = await harness.api.expect({ path: `/api/v1/namespaces/${namespace}` });
  expect(valueAt(body, ["metadata", "labels", ENFORCE])).toBe("restricted");
  expect(await runningIn(namespace)).toEqual(expect.arrayContaining(runs));
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const refusal = await harness.api.send({ method: "POST", path, body: ordinaryPod("ordinary") });
  expect(refusal.status).toBe(403);
  expect(String(valueAt(refusal.body, ["message"]))).toContain('violates PodSecurity "restricted:');
});
