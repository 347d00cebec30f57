// The caches that the engine controllers read: what is in them and how it is found. Those of children follow from their
// declarations.
import type { DeepReadonly, KubeObject } from "@firebolt-operator/kube";
import type { CacheOptions, ObjectCache } from "@firebolt-operator/kube/cache";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import { type ChildCaches, type ChildDeclaration, childCaches, PODS } from "../model/child-kinds.ts";

export interface EngineCaches {
  readonly engines: ObjectCache<FireboltEngine>;
  readonly classes: ObjectCache<FireboltEngineClass>;
  readonly instances: ObjectCache<FireboltInstance>;
  readonly children: ChildCaches;
  readonly pods: ObjectCache<V1Pod>;
}

/** What a cache of this feature holds; the caller adds the client, the logger and the namespaces. */
export type CacheSpec<T extends KubeObject> = Pick<CacheOptions<T>, "type" | "labelSelector" | "indexes" | "trim">;
export type CreateCache = <T extends KubeObject>(spec: CacheSpec<T>) => ObjectCache<T>;

export const INDEX = {
  /** Engines by `namespace/instanceRef`. */
  instance: "instance",
  /** Engines by `namespace/engineClassRef`. */
  engineClass: "engineClass",
  /** Children by `namespace/engine`. */
  engine: "engine",
  /** Pods by `namespace/engine/generation`. */
  generation: "generation",
} as const;

export function createEngineCaches(create: CreateCache): EngineCaches {
  const children = <T extends KubeObject>(declaration: ChildDeclaration<T>) =>
    create<T>({ ...cached(declaration), indexes: { [INDEX.engine]: engineOfChild } });
  return {
    engines: create<FireboltEngine>({
      type: FireboltEngine,
      indexes: {
        [INDEX.instance]: ({ metadata, spec }) => inNamespace(metadata?.namespace, spec?.instanceRef),
        [INDEX.engineClass]: ({ metadata, spec }) => inNamespace(metadata?.namespace, spec?.engineClassRef),
      },
    }),
    classes: create<FireboltEngineClass>({ type: FireboltEngineClass }),
    instances: create<FireboltInstance>({ type: FireboltInstance }),
    children: childCaches(children),
    pods: create<V1Pod>({ ...cached(PODS), indexes: { [INDEX.generation]: generationOfPod } }),
  };
}

/** Narrowed to objects that carry the engine label. */
function cached<T extends KubeObject>({ resource, trim }: ChildDeclaration<T>): CacheSpec<T> {
  return { type: resource, labelSelector: LABEL.engine, ...(trim === undefined ? {} : { trim }) };
}

function inNamespace(namespace: string | undefined, name: string | undefined): readonly string[] {
  return name === undefined || name === "" ? [] : [`${namespace}/${name}`];
}

function engineOfChild({ metadata }: DeepReadonly<KubeObject>): readonly string[] {
  return inNamespace(metadata?.namespace, metadata?.labels?.[LABEL.engine]);
}

function generationOfPod(pod: DeepReadonly<V1Pod>): readonly string[] {
  const generation = pod.metadata?.labels?.[LABEL.generation];
  return generation === undefined ? [] : engineOfChild(pod).map((engine) => `${engine}/${generation}`);
}
