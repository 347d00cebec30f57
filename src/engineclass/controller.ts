// The class controller as a value: classes themselves, and every engine that begins or ceases to name one.
import type { Clock, ObjectKey } from "@firebolt-operator/kube";
import type { CacheEvent } from "@firebolt-operator/kube/cache";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { type Controller, watch } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { FireboltEngine } from "../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../api/firebolt-engine/engine-class.ts";
import { type EngineClassCaches, kubeClassCluster } from "./engine-class-cluster.ts";
import { type EngineClassMetrics, noEngineClassMetrics } from "./metrics-hooks.ts";
import { runEngineClassPass } from "./pass.ts";

export interface EngineClassControllerDeps {
  readonly client: KubeClient;
  readonly caches: EngineClassCaches;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly metrics?: EngineClassMetrics;
}

export function engineClassController(deps: EngineClassControllerDeps): Controller {
  const { client, caches, clock, events, metrics = noEngineClassMetrics } = deps;
  return {
    name: "fireboltengineclass",
    watches: [watch(caches.classes, classOfEvent), watch(caches.engines, classesOfEngineEvent)],
    reconcile({ namespace = "", name }, signal, { logger }) {
      const cluster = kubeClassCluster(client, caches, signal);
      const nowMs = () => clock.now();
      return runEngineClassPass(cluster, { namespace, name }, { nowMs, events, metrics, logger });
    },
  };
}

/** The operator's own status writes change nothing that a pass reads. */
export function classOfEvent({ type, object, previous }: CacheEvent<FireboltEngineClass>): readonly ObjectKey[] {
  const read = (metadata: (typeof object)["metadata"]) =>
    JSON.stringify([metadata?.generation, metadata?.finalizers, metadata?.deletionTimestamp]);
  if (type === "modified" && previous !== undefined && read(object.metadata) === read(previous.metadata)) return [];
  const { namespace = "", name = "" } = object.metadata ?? {};
  return [{ namespace, name }];
}

/** When the reference moves from one class to another, both are counted again. */
export function classesOfEngineEvent({ type, object, previous }: CacheEvent<FireboltEngine>): readonly ObjectKey[] {
  const now = object.spec?.engineClassRef;
  const before = previous?.spec?.engineClassRef;
  if (type === "modified" && now === before) return [];
  const { namespace = "" } = object.metadata ?? {};
  return [...new Set([before, now])].flatMap((name) =>
    name === undefined || name === "" ? [] : [{ namespace, name }],
  );
}
