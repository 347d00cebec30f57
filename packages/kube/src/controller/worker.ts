// One worker: takes keys from the queue, reconciles each, and turns the outcome into the key's next check. It
// classifies errors for the key; it never repairs anything and never holds two keys.
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../core/clock.ts";
import { InvariantError, isConflict, KubeApiError, NotLeaderError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { parseKey } from "../core/object.ts";
import type { PassRecorder, PassResult } from "../metrics/runtime.ts";
import { type NextCheck, type Reconcile, RetryAfterError, TerminalError } from "./controller.ts";
import type { WorkQueue } from "./workqueue.ts";

/** What a worker needs: its queue, the reconcile function and the metrics of its passes. */
export interface WorkerOptions {
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  /** Already carries the controller's name. */
  readonly logger: Logger;
  readonly clock: Clock;
  readonly passes: PassRecorder;
}

/** What an error means for its key. */
export type FailureClass =
  /** Another writer was first: requeue soon. */
  | "conflict"
  /** Reconcile only when something changes. */
  | "terminal"
  /** A defect of the program: counted separately, retried like any failure. */
  | "bug"
  /** The process must stop. */
  | "notLeader"
  | "retry";

/**
 * Passes that never wait for I/O would block timers (lease renewals among them), so yield to the event loop this often.
 */
const YIELD_EVERY_MS = 10;

/** Works until the signal fires or the queue is closed. Rejects only with NotLeaderError. */
export async function work(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  let yieldedMs = options.clock.monotonicMs();
  for await (const key of options.queue.take(signal)) {
    await runPass(options, key, signal);
    if (options.clock.monotonicMs() - yieldedMs < YIELD_EVERY_MS) continue;
    await nextTurn();
    yieldedMs = options.clock.monotonicMs();
  }
}

async function runPass(options: WorkerOptions, item: string, signal: AbortSignal): Promise<void> {
  const { queue, clock, passes } = options;
  const key = parseKey(item);
  const id = randomUUID();
  const logger = options.logger.with({ ...key, reconcileID: id });
  const startedMs = clock.monotonicMs();
  let result: PassResult | undefined;
  passes.started();
  try {
    const next = await options.reconcile(key, signal, { id, logger, heartbeat: () => queue.heartbeat(item) });
    queue.done(item, next);
    result = resultOf(next);
  } catch (error) {
    if (signal.aborted) {
      logger.debug("pass interrupted by shutdown", { cause: String(error) });
      queue.retry(item);
    } else {
      result = settleFailure({ options, item, logger, error });
    }
  } finally {
    passes.finished(clock.monotonicMs() - startedMs, result);
  }
}

interface Failure {
  readonly options: WorkerOptions;
  readonly item: string;
  readonly logger: Logger;
  readonly error: unknown;
}

function settleFailure({ options: { queue, passes }, item, logger, error }: Failure): PassResult {
  const failure = classify(error);
  switch (failure) {
    case "conflict":
      logger.debug("object changed during the pass, requeued", { cause: String(error) });
      queue.retry(item);
      return "requeue";
    case "terminal":
      logger.error("pass failed with a terminal error", error);
      passes.failed("terminal");
      queue.done(item, "onChange");
      return "error";
    case "notLeader":
      queue.retry(item);
      throw new NotLeaderError("a pass attempted a write without the lease", { cause: error });
    case "bug":
    case "retry":
      logger.error(failure === "bug" ? "pass failed because of a bug" : "pass failed", error);
      passes.failed(failure === "bug" ? "bug" : "error");
      if (error instanceof RetryAfterError) queue.done(item, { afterMs: error.afterMs });
      else queue.retry(item, retryAfterMs(error));
      return "error";
    default:
      return failure satisfies never;
  }
}

/** Also follows the causes: features wrap errors to add what they were doing. */
export function classify(error: unknown): FailureClass {
  for (const link of causes(error)) {
    if (link instanceof NotLeaderError) return "notLeader";
    if (link instanceof TerminalError) return "terminal";
    if (isConflict(link)) return "conflict";
    if (isDefect(link)) return "bug";
  }
  return "retry";
}

function isDefect(error: unknown): boolean {
  return [InvariantError, TypeError, ReferenceError, RangeError].some((type) => error instanceof type);
}

function retryAfterMs(error: unknown): number {
  for (const link of causes(error)) if (link instanceof KubeApiError) return link.retryAfterMs ?? 0;
  return 0;
}

function* causes(error: unknown): Generator<unknown> {
  const seen = new Set<unknown>();
  for (let link = error; link !== undefined && !seen.has(link); link = link instanceof Error ? link.cause : undefined) {
    seen.add(link);
    yield link;
  }
}

function resultOf(next: NextCheck): PassResult {
  if (next === "onChange") return "success";
  return next === "requeue" ? "requeue" : "requeue_after";
}
