// What is true when nothing is wrong, and what faults do to objects. Every expectation throws until it holds.
import type { KubeObject, ResourceType } from "@firebolt-operator/kube";
import { expect } from "vitest";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import { LABEL } from "../../../src/api/labels.ts";
import { pods } from "../../../src/engine/cluster/kinds.ts";
import { isPodReady } from "../../../src/pods/pod-trouble.ts";
import type { Scene } from "./fault.ts";
import { until } from "./wait.ts";

type Where = Pick<Scene, "cluster" | "namespace" | "instance">;

/** Field manager of manual changes. */
export const HAND = "kubectl-edit";

export async function expectInstanceReady({ cluster: { client, call }, namespace, instance }: Where): Promise<void> {
  const { metadata, status } = await client.get(FireboltInstance, { namespace, name: instance }, call);
  const lines = (status?.conditions ?? []).map((one) => `${one.type}=${one.status} ${one.reason}: ${one.message}`);
  expect(status?.phase, lines.join("\n")).toBe("Ready");
  expect(metadata?.deletionTimestamp).toBeUndefined();
  const labelSelector = `${LABEL.instance}=${instance}`;
  const { items } = await client.listAll(pods, { ...call, namespace, labelSelector });
  const unready = items.filter((pod) => pod.metadata?.deletionTimestamp === undefined && !isPodReady(pod));
  expect(unready.map((pod) => pod.metadata?.name)).toEqual([]);
}

/** Ready on its newest spec, with nothing of a rollout left. */
export async function expectSettled(scene: Scene): Promise<void> {
  const { metadata, status } = await engineOf(scene);
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  expect(`${status?.phase} ${ready?.status}`, `${scene.engine}: ${ready?.message}`).toBe("stable True");
  expect(status?.observedGeneration).toBe(metadata?.generation);
}

export async function expectStopped(scene: Scene): Promise<void> {
  expect((await engineOf(scene)).status?.phase).toBe("stopped");
}

export const engineOf = ({ cluster: { client, call }, namespace, engine }: Scene): Promise<FireboltEngine> =>
  client.get(FireboltEngine, { namespace, name: engine }, call);

export const editEngine = (scene: Scene, spec: object): Promise<FireboltEngine> =>
  editObject(scene, FireboltEngine, { name: scene.engine, body: { spec } });

/** Container `engine` of the engine's own template. */
export const editContainer = (scene: Scene, container: object): Promise<FireboltEngine> =>
  editEngine(scene, { template: { spec: { containers: [{ name: "engine", ...container }] } } });

export const editInstance = (scene: Scene, spec: object): Promise<FireboltInstance> =>
  editObject(scene, FireboltInstance, { name: scene.instance, body: { spec } });

export async function editObject<T extends KubeObject>(
  { cluster: { client, call }, namespace }: Scene,
  type: ResourceType<T>,
  { name, body }: { readonly name: string; readonly body: object },
): Promise<T> {
  const write = () => client.patch(type, { namespace, name }, { type: "merge", body }, { ...call, fieldManager: HAND });
  // On a busy machine a webhook may be too slow once: people try again.
  return until(`an edit of ${type.kind} ${name}`, write);
}

export async function remove(scene: Scene, type: ResourceType, name: string): Promise<void> {
  await scene.cluster.client.delete(type, { namespace: scene.namespace, name }, scene.cluster.call);
}

/** The live object, to create it again later. */
export const read = <T extends KubeObject>(scene: Scene, type: ResourceType<T>, name: string): Promise<T> =>
  scene.cluster.client.get(type, { namespace: scene.namespace, name }, scene.cluster.call);

/** Deletes it and expects another of the same name. */
export async function removeForGood<T extends KubeObject>(scene: Scene, type: ResourceType<T>, name: string) {
  const { metadata } = await read(scene, type, name);
  await remove(scene, type, name);
  return async (): Promise<void> => {
    const found = await read(scene, type, name);
    expect(found.metadata?.uid, `${type.kind} ${name} is still the old one`).not.toBe(metadata?.uid);
    expect(found.metadata?.deletionTimestamp).toBeUndefined();
  };
}

/** The same object without the fields that the API server sets. */
export function asNew<T extends KubeObject>(object: T): T {
  const { name, namespace, labels, annotations } = object.metadata ?? {};
  return { ...object, metadata: { name, namespace, labels, annotations } };
}
