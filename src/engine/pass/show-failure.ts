// Stores a failed pass in the conditions of the engine, so that people see it where they look first. The step itself
// has not been taken: nothing else of the status changes.
import { InvariantError, type Logger, NotLeaderError } from "@firebolt-operator/kube";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { EngineCluster } from "../cluster/engine-cluster.ts";
import { withFailure, withLaterFailure } from "../compute/failure-suffix.ts";
import type { Engine } from "../model/children.ts";
import { type Shown, shownOf, withoutShown } from "../model/shown-state.ts";
import { generationsOf, storedPhase } from "../model/stored-state.ts";
import { failureText, recordFailure } from "../report/failure.ts";
import { writeStatus } from "./status-write.ts";

export interface FailureIo {
  readonly cluster: EngineCluster;
  readonly nowMs: () => number;
  readonly events: EventSink;
  readonly logger: Logger;
}

/** Which status a failure is shown with. */
export interface ShownWith {
  readonly status: Engine["status"];
  /** Ready's message is of this pass, not of an earlier one, which may have failed. */
  readonly isNew: boolean;
}

/**
 * The result of `work`. When it fails, what the status shows is stored, with the failure if it is one that lasts, and
 * the error is rethrown.
 */
export async function orShowFailure<T>(
  io: FailureIo,
  engine: Engine,
  shown: ShownWith,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await showFailure(io, engine, shown, error);
    throw error;
  }
}

/** A defect, a lost lease or the shutdown of the process: nothing more is written. */
export function isFatal(error: unknown, cluster: EngineCluster): boolean {
  return error instanceof InvariantError || error instanceof NotLeaderError || cluster.signal.aborted;
}

async function showFailure(
  { cluster, nowMs, events, logger }: FailureIo,
  engine: Engine,
  { status, isNew }: ShownWith,
  error: unknown,
): Promise<void> {
  if (isFatal(error, cluster) || storedPhase(engine) === "uninitialised") return;
  const { current, active } = generationsOf(engine);
  const text = failureText(error);
  const shown = text === undefined ? copied(shownOf(status)) : failureShown(text, status, isNew);
  const counters = { currentGeneration: current, activeGeneration: active };
  try {
    await writeStatus(cluster, engine, { ...counters, ...withoutShown(engine.status), ...shown }, nowMs());
  } catch (second) {
    // The first failure is the one that the pass reports.
    logger.error("conditions could not be stored after a failed pass", second);
  }
  if (text !== undefined) recordFailure(engine, text, events);
}

const failureShown = (text: string, status: Engine["status"], isNew: boolean): Shown =>
  isNew ? withFailure(shownOf(status), text) : withLaterFailure(status ?? {}, text);

const copied = ({ conditions = [], ...records }: DeepReadonly<Shown>): Shown => ({
  ...records,
  conditions: conditions.map((condition) => ({ ...condition })),
});
