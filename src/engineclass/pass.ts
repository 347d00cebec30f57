// One pass over one class: count, decide, write at most once. The count that releases a class comes from the API
// server; when it cannot be had, the pass fails and the class stays.
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import { findCondition } from "../api/condition-list.ts";
import type { ClassEventReason } from "../api/events.ts";
import type { EngineClassStatus } from "../api/firebolt-engine/engine-class.ts";
import { API_VERSION } from "../api/group.ts";
import { computeEngineClass, type EngineClass } from "./compute.ts";
import type { ClassKey, EngineClassCluster, WriteResult } from "./engine-class-cluster.ts";
import type { EngineClassMetrics } from "./metrics-hooks.ts";

export interface ClassPassDeps {
  readonly nowMs: () => number;
  readonly events: EventSink<ClassEventReason>;
  readonly metrics: EngineClassMetrics;
  readonly logger: Logger;
}

/** Both for a class at rest and for one whose deletion waits. */
const RECHECK_MS = 30_000;

export async function runEngineClassPass(
  cluster: EngineClassCluster,
  key: ClassKey,
  deps: ClassPassDeps,
): Promise<NextCheck> {
  const engineClass = cluster.engineClass(key);
  if (engineClass === undefined) {
    deps.metrics.removed(key);
    return "onChange";
  }
  const deleting = engineClass.metadata?.deletionTimestamp !== undefined;
  const boundEngines = deleting ? await cluster.countEnginesDirectly(key) : cluster.countEngines(key);
  const decision = computeEngineClass({ nowMs: deps.nowMs(), engineClass, boundEngines });
  switch (decision.type) {
    case "leave":
      deps.metrics.removed(key);
      return "onChange";
    case "guard":
      await cluster.addFinalizer(engineClass);
      return "requeue";
    case "release": {
      const result = await cluster.removeFinalizer(engineClass);
      if (result !== "written") return "requeue";
      deps.metrics.removed(key);
      deps.logger.info("class released");
      return "onChange";
    }
    case "judge":
    case "block":
      if ((await store(cluster, engineClass, decision.status, deps)) !== "written") return "requeue";
      deps.metrics.passEnded({ engineClass: key, status: decision.status });
      return { afterMs: RECHECK_MS };
    default:
      return decision satisfies never;
  }
}

async function store(
  cluster: EngineClassCluster,
  engineClass: EngineClass,
  status: EngineClassStatus,
  deps: ClassPassDeps,
): Promise<WriteResult> {
  if (isDeepStrictEqual(engineClass.status, status)) return "written";
  const result = await cluster.writeStatus(engineClass, status);
  if (result === "written") report(engineClass, status, deps);
  return result;
}

/** A rejection is reported once, when it begins. */
function report(engineClass: EngineClass, status: EngineClassStatus, { events, logger }: ClassPassDeps): void {
  const ready = findCondition(status.conditions, "Ready");
  if (ready?.status !== "False" || findCondition(engineClass.status?.conditions, "Ready")?.reason === ready.reason)
    return;
  logger.info("class rejected", { reason: ready.reason, cause: ready.message });
  const { namespace = "", name = "", uid = "" } = engineClass.metadata ?? {};
  events.record({
    regarding: { apiVersion: API_VERSION, kind: "FireboltEngineClass", namespace, name, uid },
    type: "Warning",
    ...(ready.reason === "DeletionBlocked"
      ? { reason: "DeletionBlocked", action: "Deleting" }
      : { reason: "OperatorOwnedFieldSet", action: "Reconcile" }),
    note: ready.message,
  });
}
