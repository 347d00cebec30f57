// One namespace of an engine test: its instance and engines, operators that see nothing else, and the history of everything that
// was stored. Waits for what the history shows, so that looking never costs the API server a request.
import { defineResource } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { FireboltEngine, type FireboltEngineManifest } from "../../../src/api/firebolt-engine/engine.ts";
import {
  FireboltEngineClass,
  type FireboltEngineClassManifest,
} from "../../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import type { V1Pod, V1StatefulSet } from "../../../src/api/generated/kubernetes.ts";
import { LABEL } from "../../../src/api/labels.ts";
import { pods } from "../../../src/engine/cluster/kinds.ts";
import { createNamespace, eventually } from "../../harness/control-plane/requests.ts";
import {
  engineClass as classManifest,
  engine as engineManifest,
  instance as instanceManifest,
} from "../../harness/fixtures/manifests.ts";
import {
  type EngineOperator,
  type InProcessOptions,
  startEngineOperator,
} from "../../harness/operator/engine-operator-in-process.ts";
import type { MetricsAnswer } from "../../harness/pods/engine-metrics-server.ts";
import type { EngineControlPlane } from "./engine-control-plane.ts";
import { type EngineHistory, watchEngineHistory } from "./history.ts";
import { brokenInvariants, type OutsideEdits } from "./invariants.ts";

type EngineSpec = Partial<NonNullable<FireboltEngineManifest["spec"]>>;
type ClassSpec = Partial<NonNullable<FireboltEngineClassManifest["spec"]>>;

const Node = defineResource({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
export const METADATA_ENDPOINT = "main-metadata.example.svc.cluster.local:7000";
/** Ends what hangs. */
const PATIENCE_MS = 90_000;
const INSTANCE_ID = "01JD0000000000000000000000";

export interface EngineHarness extends AsyncDisposable {
  readonly namespace: string;
  readonly client: KubeClient;
  readonly history: EngineHistory;
  /** Ends with the harness, unless stopped before. */
  operator(options?: Partial<InProcessOptions>): Promise<EngineOperator>;
  createInstance(endpoint?: string): Promise<void>;
  setEndpoint(endpoint: string): Promise<void>;
  createEngine(name: string, spec?: EngineSpec): Promise<void>;
  /** A merge patch of the spec; null removes a field. */
  edit(name: string, spec: object): Promise<void>;
  createClass(name: string, spec?: ClassSpec): Promise<void>;
  editClass(name: string, spec: object): Promise<void>;
  engine(name: string): FireboltEngine;
  /** Waits until the engine in the history matches, and returns it. */
  until(
    name: string,
    check: (engine: FireboltEngine) => boolean,
    describe: string,
    timeoutMs?: number,
  ): Promise<FireboltEngine>;
  /** Waits until the history shows that the engine was so once, and returns the first such version: for what may have passed again. */
  once(name: string, check: (engine: FireboltEngine) => boolean, describe: string): Promise<FireboltEngine>;
  /** At rest on this generation, the spec confirmed, Ready or stopped, and nothing left of any other generation. */
  settled(name: string, generation: number, timeoutMs?: number): Promise<FireboltEngine>;
  pods(name: string, generation: number): readonly V1Pod[];
  statefulSet(name: string, generation: number): V1StatefulSet | undefined;
  /** What the routing Service selects; NaN without one. */
  target(name: string): number;
  /** What a pod reports about its queries from now on. */
  queries(pod: V1Pod | undefined, answer: MetricsAnswer): void;
  /** A node selector that no node satisfies until `release`. */
  readonly hold: Readonly<Record<string, string>>;
  release(): Promise<void>;
  setPodReady(pod: V1Pod, ready: boolean): Promise<void>;
  broken(edits?: OutsideEdits): readonly string[];
}

export async function openEngineHarness(cluster: EngineControlPlane, prefix: string): Promise<EngineHarness> {
  const { client, kubeconfig, metrics, nodes } = cluster;
  const namespace = await createNamespace(prefix, kubeconfig);
  const history = await watchEngineHistory(client, namespace);
  const operators: EngineOperator[] = [];
  const key = (name: string) => ({ namespace, name });
  const engineOf = (name: string): FireboltEngine => {
    const found = history.latest("FireboltEngine", name);
    if (found === undefined) throw new Error(`engine ${name} is not there`);
    return found;
  };
  /** Whoever waits for the engine next must not be shown it as it was before the edit. */
  const seen = (name: string, generation: number) =>
    eventually(() => (history.latest("FireboltEngine", name)?.metadata?.generation ?? 0) >= generation, {
      timeoutMs: PATIENCE_MS,
    });
  const setEndpoint = async (metadataEndpoint: string): Promise<void> => {
    const patch = { type: "merge", body: { status: { metadataEndpoint } } } as const;
    await client.patch(FireboltInstance, key("main"), patch, { subresource: "status" });
  };
  const harness: EngineHarness = {
    namespace,
    client,
    history,
    async operator(options = {}) {
      const operator = await startEngineOperator({ kubeconfig, namespaces: [namespace], ...options });
      operators.push(operator);
      return operator;
    },
    async createInstance(endpoint = METADATA_ENDPOINT) {
      await client.create(
        FireboltInstance,
        instanceManifest({ name: "main", namespace, id: INSTANCE_ID }) as FireboltInstance,
      );
      if (endpoint !== "") await setEndpoint(endpoint);
    },
    setEndpoint,
    async createEngine(name, spec = {}) {
      const manifest = engineManifest({ name, namespace, instanceRef: "main", replicas: 2, ...spec });
      await client.create(FireboltEngine, manifest as FireboltEngine);
      await seen(name, 1);
    },
    async edit(name, spec) {
      const { metadata } = await client.patch(FireboltEngine, key(name), { type: "merge", body: { spec } });
      await seen(name, metadata?.generation ?? 0);
    },
    async createClass(name, spec = {}) {
      await client.create(FireboltEngineClass, classManifest({ name, namespace, ...spec }) as FireboltEngineClass);
    },
    async editClass(name, spec) {
      await client.patch(FireboltEngineClass, key(name), { type: "merge", body: { spec } });
    },
    engine: engineOf,
    until: (name, check, describe, timeoutMs = PATIENCE_MS) =>
      eventually(
        () => {
          const found = engineOf(name);
          if (!check(found)) throw new Error(`the engine is ${JSON.stringify(found.status)}`);
          return found;
        },
        { timeoutMs, describe: `${namespace}/${name}: ${describe}` },
      ),
    once: (name, check, describe) =>
      eventually(
        () => {
          const found = history
            .of("FireboltEngine", name)
            .find(({ change, object }) => change === "stored" && check(object));
          if (found === undefined) throw new Error(`the engine is ${JSON.stringify(engineOf(name).status)}`);
          return found.object;
        },
        { timeoutMs: PATIENCE_MS, describe: `${namespace}/${name}: ${describe}` },
      ),
    settled: (name, generation, timeoutMs = PATIENCE_MS) =>
      eventually(
        () => {
          const found = engineOf(name);
          if (!isSettled(found, generation)) throw new Error(`the engine is ${JSON.stringify(found.status)}`);
          const left = orphanedObjects(history, name, generation);
          if (left.length > 0) throw new Error(`still there: ${left.join(", ")}`);
          // Kinds are watched one by one: objects that the status mentions may not have been observed yet.
          const addresses = harness.pods(name, generation).flatMap(({ status }) => status?.podIP ?? []);
          const [target, count] = [harness.target(name), addresses.length];
          if (target !== generation || count !== found.spec?.replicas)
            throw new Error(`the Service selects ${target}, and there are ${count} pods with an address`);
          return found;
        },
        { timeoutMs, describe: `${namespace}/${name} settled on generation ${generation}` },
      ),
    pods: (name, generation) =>
      history
        .present("Pod")
        .filter(
          ({ metadata }) =>
            metadata?.labels?.[LABEL.engine] === name && metadata.labels[LABEL.generation] === String(generation),
        ),
    statefulSet: (name, generation) => history.latest("StatefulSet", `${name}-g${generation}`),
    target: (name) =>
      Number(history.latest("Service", `${name}-service`)?.spec?.selector?.[LABEL.generation] ?? Number.NaN),
    queries(pod, answer) {
      const ip = pod?.status?.podIP;
      if (ip === undefined) throw new Error("the pod has no address");
      const { name = "", uid } = pod?.metadata ?? {};
      metrics.answer(ip, () => (history.latest("Pod", name)?.metadata?.uid === uid ? answer : undefined));
    },
    hold: { [`example.com/${namespace}`]: "yes" },
    async release() {
      const body = { metadata: { labels: harness.hold } };
      for (const name of nodes) await client.patch(Node, { name }, { type: "merge", body });
    },
    async setPodReady(pod, ready) {
      const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
      const patch = { type: "strategic", body: { status: { conditions } } } as const;
      await client.patch(pods, key(pod.metadata?.name ?? ""), patch, { subresource: "status" });
    },
    broken: (edits) => brokenInvariants(history, edits),
    async [Symbol.asyncDispose]() {
      for (const operator of operators) await operator.stop();
      await history[Symbol.asyncDispose]();
    },
  };
  return harness;
}

export const readyOf = (engine: FireboltEngine) => engine.status?.conditions?.find(({ type }) => type === "Ready");

function isSettled(engine: FireboltEngine, generation: number): boolean {
  const { status, metadata, spec } = engine;
  const reason = spec?.replicas === 0 ? "Stopped" : "EngineReady";
  return (
    (status?.phase === "stable" || status?.phase === "stopped") &&
    status.currentGeneration === generation &&
    status.activeGeneration === generation &&
    status.observedGeneration === metadata?.generation &&
    readyOf(engine)?.reason === reason
  );
}

/** Objects of other generations. */
export function orphanedObjects(history: EngineHistory, name: string, generation: number): readonly string[] {
  const objects = [...history.present("StatefulSet"), ...history.present("Service"), ...history.present("ConfigMap")];
  return objects.flatMap(({ metadata }) => {
    const number = metadata?.labels?.[LABEL.engine] === name ? metadata.labels[LABEL.generation] : undefined;
    return number === undefined || number === String(generation) ? [] : [metadata?.name ?? ""];
  });
}

/** The part of a spec that names an image. */
export const image = (tag: string) => ({
  template: { spec: { containers: [{ name: "engine", image: `example.com/engine:${tag}` }] } },
});
