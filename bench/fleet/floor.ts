// The time of the control plane itself: the objects of an engine, copied from a real one, are created directly for the
// same number of engines until their pods are ready. No operator runs meanwhile.
import { type KubeObject, type ObjectMeta, type ResourceType, silentLogger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import type { V1Pod } from "../../src/api/generated/kubernetes.ts";
import { LABEL } from "../../src/api/labels.ts";
import { configMaps, pods, services, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { inParallel } from "./engine-fleet.ts";
import type { Harness } from "./harness.ts";

const NAMESPACE = "floor";
const SENDERS = 16;
const KINDS = [configMaps, services, statefulSets] as const satisfies readonly ResourceType[];

export interface FloorTemplate {
  /** The name of the engine the objects were taken from. */
  readonly engine: string;
  readonly objects: readonly { readonly type: ResourceType<KubeObject>; readonly object: KubeObject }[];
}

export interface Floor {
  readonly objectsPerEngine: number;
  readonly createSeconds: number;
  readonly deleteSeconds: number;
}

/**
 * All objects that an operator has created for this engine, without the fields that the server and the operator added.
 */
export async function readTemplate(harness: Harness, namespace: string, engine: string): Promise<FloorTemplate> {
  const objects: FloorTemplate["objects"][number][] = [];
  for (const type of KINDS) {
    const { items } = await harness.client.list<KubeObject>(type, {
      namespace,
      labelSelector: `${LABEL.engine}=${engine}`,
    });
    objects.push(...items.map((object) => ({ type, object: bare(object) })));
  }
  if (objects.length === 0) throw new Error(`the operator has created nothing for engine ${engine}`);
  return { engine, objects };
}

export async function measureFloor(harness: Harness, template: FloorTemplate, engines: number): Promise<Floor> {
  const { client, progress } = harness;
  await harness.createNamespace(NAMESPACE);
  const names = Array.from({ length: engines }, (_, index) => `f${index}`);
  const ready = new Set<string>();
  const present = new Set<string>();
  const cache = createObjectCache<V1Pod>({
    client,
    type: pods,
    logger: silentLogger,
    namespaces: [NAMESPACE],
    trim: ({ spec: _, ...rest }) => rest,
  });
  let changed = (): void => undefined;
  cache.onEvent(({ type, object }) => {
    const name = object.metadata?.name ?? "";
    if (type === "deleted") present.delete(name);
    else present.add(name);
    if (object.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True")) ready.add(name);
    changed();
  });
  const until = async (check: () => boolean, describe: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    changed = () => (check() ? resolve() : undefined);
    const ticker = setInterval(() => progress(`floor: ${ready.size} pods ready, ${present.size} created`), 5_000);
    const deadline = setTimeout(() => reject(new Error(`floor: not ${describe}`)), 60_000 + engines * 1_000);
    changed();
    await promise.finally(() => {
      clearInterval(ticker);
      clearTimeout(deadline);
    });
  };
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  try {
    await cache.whenSynced(stop.signal);
    const createdMs = performance.now();
    await inParallel(
      names,
      async (name) => {
        for (const { type, object } of template.objects)
          await client.create(type, renamed(object, template.engine, name));
      },
      SENDERS,
    );
    await until(() => ready.size === engines, "all ready");
    const createSeconds = seconds(createdMs);
    const deletedMs = performance.now();
    await inParallel(
      names,
      async (name) => {
        for (const { type, object } of template.objects) {
          const { metadata } = renamed(object, template.engine, name);
          await client.delete(
            type,
            { namespace: NAMESPACE, name: metadata?.name ?? "" },
            { propagation: "Background" },
          );
        }
      },
      SENDERS,
    );
    await until(() => present.size === 0, "all gone");
    return { objectsPerEngine: template.objects.length, createSeconds, deleteSeconds: seconds(deletedMs) };
  } finally {
    stop.abort();
    await running;
  }
}

/** Only what a script would write: names, labels, annotations and the content. */
function bare(object: KubeObject): KubeObject {
  const { name, labels, annotations }: ObjectMeta = object.metadata ?? {};
  const rest: Record<string, unknown> = { ...object };
  delete rest["status"];
  const spec = rest["spec"];
  // The server assigns addresses, except for "None".
  if (typeof spec === "object" && spec !== null && "clusterIP" in spec && spec.clusterIP !== "None") {
    const { clusterIP: _, clusterIPs: __, ...others } = spec as Record<string, unknown>;
    rest["spec"] = others;
  }
  return {
    ...rest,
    metadata: { ...(name && { name }), ...(labels && { labels }), ...(annotations && { annotations }) },
  } as KubeObject;
}

/** The same object for another engine: its name is part of names, labels and selectors. */
function renamed(object: KubeObject, from: string, to: string): KubeObject {
  const copy = JSON.parse(JSON.stringify(object).replaceAll(from, to)) as KubeObject;
  return { ...copy, metadata: { ...copy.metadata, namespace: NAMESPACE } };
}

const seconds = (sinceMs: number): number => Math.round(performance.now() - sinceMs) / 1_000;
