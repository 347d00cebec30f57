// Stores a failed pass in the conditions of the engine, so that people see it where they look first. The step itself
// has not been taken: nothing else of the status changes.
import { InvariantError, type Logger, NotLeaderError } from "@firebolt-operator/kube";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { Condition } from "../../api/schema/condition.ts";
import type { EngineWorld } from "../cluster/world.ts";
import { withFailure } from "../compute/failure-suffix.ts";
import type { Engine } from "../model/children.ts";
import { generationsOf, storedPhase } from "../model/stored-state.ts";
import { failureText, recordFailure } from "../report/failure.ts";
import { writeStatus } from "./status-write.ts";

export interface FailureIo {
  readonly world: EngineWorld;
  readonly nowMs: () => number;
  readonly events: EventSink;
  readonly logger: Logger;
}

type Conditions = readonly Readonly<Condition>[];

/**
 * The result of `work`. When it fails, the conditions are stored, with the failure if it is one that lasts, and the
 * error is rethrown.
 */
export async function orShowFailure<T>(
  io: FailureIo,
  engine: Engine,
  conditions: Conditions | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await showFailure(io, engine, conditions ?? [], error);
    throw error;
  }
}

/** A defect, a lost lease or the shutdown of the process: nothing more is written. */
export function isFatal(error: unknown, world: EngineWorld): boolean {
  return error instanceof InvariantError || error instanceof NotLeaderError || world.signal.aborted;
}

async function showFailure(
  { world, nowMs, events, logger }: FailureIo,
  engine: Engine,
  conditions: Conditions,
  error: unknown,
): Promise<void> {
  if (isFatal(error, world) || storedPhase(engine) === "uninitialised") return;
  const { current, active } = generationsOf(engine);
  const text = failureText(error);
  const shown = text === undefined ? conditions.map((condition) => ({ ...condition })) : withFailure(conditions, text);
  const counters = { currentGeneration: current, activeGeneration: active };
  try {
    await writeStatus(world, engine, { ...counters, ...engine.status, conditions: shown }, nowMs());
  } catch (second) {
    // The first failure is the one that the pass reports.
    logger.error("conditions could not be stored after a failed pass", second);
  }
  if (text !== undefined) recordFailure(engine, text, events);
}
