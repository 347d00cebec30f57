// Instances with one operator on a real control plane, and what tests of them wait for and count.
import { expect } from "vitest";
import type { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import { eventually } from "../../harness/control-plane/requests.ts";
import { type InstanceOperator, startInstanceOperator } from "../../harness/operator/instance-operator.ts";
import { fastClock } from "./fast-clock.ts";
import { type InstanceCluster, startInstanceCluster, type TestNamespace } from "./instance-cluster.ts";

/** How much faster than real the operator's clock runs: its rechecks every 30 s come every second. */
export const SPEED = 30;

export interface InstanceHarness extends AsyncDisposable {
  readonly cluster: InstanceCluster;
  readonly operator: InstanceOperator;
  /** A namespace with an instance that is Ready. */
  provisioned(spec?: Parameters<TestNamespace["createInstance"]>[0], security?: "restricted"): Promise<TestNamespace>;
  /** Requests that the operator sends while `during` runs, as `verb resource`. */
  requestsDuring(during: () => Promise<void>): Promise<readonly string[]>;
  /** All instances are at rest: their pods are ready, and three passes over each of them send no request. */
  atRest(): Promise<unknown>;
  /** Lets the operator make this many more passes over the instances it has. */
  passes(count: number): Promise<void>;
}

export async function openInstanceHarness(): Promise<InstanceHarness> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startInstanceCluster());
  const operator = stack.use(
    await startInstanceOperator({ kubeconfig: cluster.adminKubeconfig, clock: fastClock(SPEED) }),
  );
  const owned = stack.move();
  const harness: InstanceHarness = {
    cluster,
    operator,
    async provisioned(spec, security) {
      const ns = await cluster.namespace(security);
      await ns.createInstance(spec);
      await reaches(ns, "Ready");
      return ns;
    },
    async requestsDuring(during) {
      const before = operator.requests.length;
      await during();
      return operator.requests.slice(before).map(({ verb, resource }) => `${verb} ${resource}`);
    },
    atRest: () =>
      eventually(
        async () => {
          await expectWorkloadsAtRest(cluster);
          const { items } = (await cluster.api.expect({ path: INSTANCES })).body as {
            readonly items: readonly unknown[];
          };
          expect(await harness.requestsDuring(() => harness.passes(3 * items.length))).toEqual([]);
          await expectWorkloadsAtRest(cluster);
        },
        { timeoutMs: 200_000, describe: "instances at rest" },
      ),
    async passes(count) {
      const before = operator.passes.length;
      await eventually(() => operator.passes.length >= before + count, { describe: `${count} more passes` });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return harness;
}

const INSTANCES = "/apis/compute.firebolt.io/v1alpha1/fireboltinstances";

interface Workload {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: { readonly replicas: number };
  readonly status: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
  };
}

/**
 * Pods that are still starting are observed, and their state is written to the status. The database pod waits for a
 * volume forever here.
 */
async function expectWorkloadsAtRest({ api }: InstanceCluster): Promise<void> {
  const { items } = (await api.expect({ path: "/apis/apps/v1/deployments" })).body as {
    readonly items: readonly Workload[];
  };
  for (const { metadata, spec, status } of items) {
    const { observedGeneration, replicas = 0, readyReplicas = 0, updatedReplicas = 0 } = status;
    expect([metadata.name, observedGeneration, replicas, readyReplicas, updatedReplicas]).toEqual([
      ...[metadata.name, metadata.generation],
      ...[spec.replicas, spec.replicas, spec.replicas],
    ]);
  }
}

/** Its status and reason, as `True/AllComponentsReady`. */
export function conditionOf({ status }: FireboltInstance, type: string): string | undefined {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : `${found.status}/${found.reason}`;
}

export function reaches(ns: TestNamespace, phase: string): Promise<FireboltInstance> {
  return eventually(
    async () => {
      const found = await ns.instance();
      expect(found.status?.phase).toBe(phase);
      return found;
    },
    { describe: `phase ${phase}` },
  );
}
