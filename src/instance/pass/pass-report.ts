// What a pass reports: log lines and events of the status that it stored, and one record for the metrics.
import type { Logger } from "@firebolt-operator/kube";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { InstanceMetrics } from "../metrics-hooks.ts";
import { type Instance, identityOf } from "../model/children.ts";
import type { InstanceDecision } from "../model/decision.ts";
import type { InstanceSnapshot, Troubles } from "../model/snapshot.ts";
import type { Applied } from "./apply-status.ts";
import { eventsOf } from "./events.ts";

/** Logs and events of the stored status; returns the instance as it is stored now. */
export function reportStored(
  snapshot: InstanceSnapshot,
  decision: InstanceDecision,
  applied: Applied,
  { events, logger }: { readonly events: EventSink; readonly logger: Logger },
): Instance {
  const { instance: before } = snapshot;
  if (applied.type === "stale" || applied.type === "early") return before;
  // The worker logs errors that are thrown.
  for (const error of applied.type === "rejected" ? applied.errors : [])
    logger.error("write rejected by the API server", error);
  const { status } = applied;
  if (status.type !== "written") return before;
  const after = status.instance;
  if (decision.type === "refuse")
    logger.info("instance rejected", { reason: decision.finding.reason, cause: decision.finding.message });
  if (before.status?.phase !== after.status?.phase)
    logger.info("phase changed", { from: before.status?.phase ?? "", to: after.status?.phase });
  for (const event of eventsOf(snapshot, after.status)) events.record(event);
  return after;
}

interface PassEnd {
  readonly succeeded: boolean;
  readonly troubles: Troubles;
}

interface RecordDeps {
  readonly metrics: InstanceMetrics;
  readonly nowMs: () => number;
}

const COMPONENTS = ["postgres", "metadata", "gateway"] as const;

export function recordPass(instance: Instance, { succeeded, troubles }: PassEnd, { metrics, nowMs }: RecordDeps): void {
  const { namespace, name } = identityOf(instance);
  metrics.passEnded({
    instance: { namespace, name },
    id: instance.spec.id ?? "",
    postgresMode: instance.spec.metadata.postgres === undefined ? "internal" : "external",
    status: instance.status,
    stuck: COMPONENTS.filter((component) => troubles[component] !== undefined),
    succeeded,
    nowMs: nowMs(),
  });
}
