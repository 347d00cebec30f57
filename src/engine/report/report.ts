// Reports what a pass did: log lines, events, counters. Changes nothing, and is called after the writes.
import type { Logger } from "@firebolt-operator/kube";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { EngineMetrics } from "../metrics-hooks.ts";
import type { EngineDecision, WritableDecision } from "../model/decision.ts";
import { isAtRest } from "../model/phase.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import type { Applied, Scaled } from "../pass/apply.ts";
import { scaleEventsOf } from "./auto-stop-events.ts";
import { aliasEventsOf, eventsOf } from "./events.ts";
import { recordFailure, scaleFailureText } from "./failure.ts";
import { restoredEventsOf } from "./restored-children.ts";

export interface PassFacts {
  readonly decision: EngineDecision;
  readonly snapshot: EngineSnapshot;
  readonly applied: Applied;
}

export interface ReportSinks {
  readonly logger: Logger;
  readonly events: EventSink;
  readonly metrics: EngineMetrics;
}

export function report({ decision, snapshot, applied }: PassFacts, { logger, events, metrics }: ReportSinks): void {
  if (decision.type === "broken") return;
  if (snapshot.drainProbe.type === "failing") metrics.drainCheckFailed(snapshot.identity);
  if (applied.type === "discarded") logger.debug("pass discarded", { row: decision.step, cause: applied.because });
  if (applied.type === "done" && applied.scaled !== undefined)
    reportScaled({ decision, snapshot, applied }, applied.scaled, { logger, events, metrics });
  if (applied.type !== "done") return;
  for (const event of [...aliasEventsOf(decision, snapshot), ...restoredEventsOf(decision, snapshot)])
    events.record(event);
  // No new status: its events have been recorded before.
  if (!applied.statusWritten) return;
  for (const event of eventsOf(decision, snapshot)) events.record(event);
  logGeneration(decision, logger);
  logPhase(decision, snapshot, { logger, metrics });
  countRollout(decision, snapshot, metrics);
}

function reportScaled(
  { decision, snapshot }: PassFacts,
  scaled: Scaled,
  { logger, events, metrics }: ReportSinks,
): void {
  if (decision.type !== "hold" || decision.scale === undefined) return;
  const { from, to, reason } = decision.scale;
  if (scaled.type === "refused") {
    logger.error("auto-stop could not change the number of replicas", scaled.because, { from, to, reason });
    const text = scaleFailureText(decision.scale, scaled.because);
    if (text !== undefined) recordFailure(snapshot.engine, text, events);
    return;
  }
  logger.info("auto-stop changed the number of replicas", { from, to, reason });
  metrics.scaled(snapshot.identity, to > from ? "up" : "down", reason);
  for (const event of scaleEventsOf(decision.scale, snapshot)) events.record(event);
}

function logGeneration(decision: WritableDecision, logger: Logger): void {
  switch (decision.type) {
    case "bump":
      logger.info("new generation", { generation: decision.status.currentGeneration, cause: decision.cause.path });
      return;
    case "abandon":
      logger.info("generation abandoned", { generation: decision.generation, cause: decision.cause.path });
      logger.info("new generation", { generation: decision.status.currentGeneration, cause: decision.cause.path });
      return;
    case "refuse": {
      const { reason, message, violations } = decision.refusal;
      const paths = violations.map(({ path }) => path);
      logger.info("engine rejected", { reason, cause: message, ...(paths.length === 0 ? {} : { paths }) });
      return;
    }
    default:
      return;
  }
}

function logPhase(
  decision: WritableDecision,
  snapshot: EngineSnapshot,
  sinks: Pick<ReportSinks, "logger" | "metrics">,
): void {
  const from = snapshot.status?.phase ?? "";
  const to = decision.status.phase;
  if (from === to) return;
  sinks.logger.info("phase changed", { from, to, generation: decision.status.currentGeneration });
  sinks.metrics.phaseChanged(snapshot.identity, from, to);
}

function countRollout(
  { type, status }: WritableDecision,
  { phase, identity }: EngineSnapshot,
  metrics: EngineMetrics,
): void {
  if (type === "abandon") metrics.rollout(identity, "abandoned");
  if (type === "initialise" || type === "bump" || type === "abandon") metrics.rollout(identity, "started");
  else if (isAtRest(status.phase) && !isAtRest(phase)) metrics.rollout(identity, "completed");
}
