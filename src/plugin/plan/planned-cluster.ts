// The cluster as the plan leaves it: stored objects, with those of the plan in place of the ones they replace. Reads
// each once.
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { statefulSets } from "../../engine/cluster/kinds.ts";
import { statefulSetName } from "../../engine/model/names.ts";
import type { ResourceBounds } from "../../engine/model/validate.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects, nameOf, namespaceOf } from "../cluster/find-object.ts";

export interface PlanCluster {
  readonly bounds: ResourceBounds;
  storedClass(namespace: string, name: string | undefined): Promise<FireboltEngineClass | undefined>;
  plannedClass(namespace: string, name: string | undefined): Promise<FireboltEngineClass | undefined>;
  plannedInstance(namespace: string, name: string | undefined): Promise<FireboltInstance | undefined>;
  enginesOfClass(engineClass: FireboltEngineClass): Promise<readonly FireboltEngine[]>;
  enginesOfInstance(instance: FireboltInstance): Promise<readonly FireboltEngine[]>;
  /** Of the engine's current generation. */
  statefulSetOf(engine: FireboltEngine): Promise<V1StatefulSet | undefined>;
  replaceClass(engineClass: FireboltEngineClass): void;
  replaceInstance(instance: FireboltInstance): void;
  /** Whether the class is in the file. */
  plansClass(namespace: string, name: string): boolean;
}

export function createCluster(cluster: Cluster, bounds: ResourceBounds): PlanCluster {
  const { client, call } = cluster;
  const classes = new Map<string, FireboltEngineClass>();
  const instances = new Map<string, FireboltInstance>();
  const keyOf = (object: FireboltEngineClass | FireboltInstance): string => `${namespaceOf(object)}/${nameOf(object)}`;
  const storedClass = async (namespace: string, name: string | undefined) =>
    name === undefined || name === "" ? undefined : client.find(FireboltEngineClass, { namespace, name }, call);
  return {
    bounds,
    storedClass,
    plannedClass: async (namespace, name) => classes.get(`${namespace}/${name}`) ?? storedClass(namespace, name),
    plannedInstance: async (namespace, name) =>
      name === undefined || name === ""
        ? undefined
        : (instances.get(`${namespace}/${name}`) ?? (await client.find(FireboltInstance, { namespace, name }, call))),
    async enginesOfClass(engineClass) {
      const { items } = await listObjects(cluster, FireboltEngine, { namespace: namespaceOf(engineClass) });
      return items.filter(({ spec }) => spec?.engineClassRef === nameOf(engineClass));
    },
    async enginesOfInstance(instance) {
      const { items } = await listObjects(cluster, FireboltEngine, { namespace: namespaceOf(instance) });
      return items.filter(({ spec }) => spec?.instanceRef === nameOf(instance));
    },
    async statefulSetOf(engine) {
      const generation = engine.status?.currentGeneration;
      if (generation === undefined) return undefined;
      return client.find(
        statefulSets,
        { namespace: namespaceOf(engine), name: statefulSetName(nameOf(engine), generation) },
        call,
      );
    },
    replaceClass: (engineClass) => void classes.set(keyOf(engineClass), engineClass),
    replaceInstance: (instance) => void instances.set(keyOf(instance), instance),
    plansClass: (namespace, name) => classes.has(`${namespace}/${name}`),
  };
}
