// One worker: takes keys from the queue, runs a pass on each, and turns its outcome into the key's next check.
// It decides what an error means for the key; it never repairs anything and never holds two keys.
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../core/clock.ts";
import { InvariantError, isConflict, KubeApiError, NotLeaderError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { parseKey } from "../core/object.ts";
import type { PassRecorder, PassResult } from "../metrics/runtime.ts";
import { type NextCheck, type Reconcile, RetryAfterError, TerminalError } from "./controller.ts";
import type { WorkQueue } from "./workqueue.ts";

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
  /** Someone else wrote first: look again soon. */
  | "conflict"
  /** Look again only when something changes. */
  | "terminal"
  /** A defect of the program: counted apart, retried like any failure. */
  | "bug"
  /** The process must not go on. */
  | "notLeader"
  | "retry";

/** Passes that never wait for I/O would keep timers (lease renewals among them) from running; so turn the loop this often. */
const BREATHE_EVERY_MS = 10;

/** Works until the signal fires or the queue is closed. Rejects only with NotLeaderError. */
export async function work(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  let breathedMs = options.clock.monotonicMs();
  for await (const key of options.queue.take(signal)) {
    await runPass(options, key, signal);
    if (options.clock.monotonicMs() - breathedMs < BREATHE_EVERY_MS) continue;
    await nextTurn();
    breathedMs = options.clock.monotonicMs();
  }
}

async function runPass(options: WorkerOptions, text: string, signal: AbortSignal): Promise<void> {
  const { queue, clock, passes } = options;
  const key = parseKey(text);
  const id = randomUUID();
  const logger = options.logger.with({ ...key, reconcileID: id });
  const startedMs = clock.monotonicMs();
  let result: PassResult | undefined;
  passes.started();
  try {
    const next = await options.reconcile(key, signal, { id, logger, heartbeat: () => queue.heartbeat(text) });
    queue.done(text, next);
    result = resultOf(next);
  } catch (error) {
    if (signal.aborted) {
      logger.debug("pass cut by shutdown", { cause: String(error) });
      queue.retry(text);
    } else {
      result = settleFailure({ options, text, logger, error });
    }
  } finally {
    passes.finished(clock.monotonicMs() - startedMs, result);
  }
}

interface Failure {
  readonly options: WorkerOptions;
  readonly text: string;
  readonly logger: Logger;
  readonly error: unknown;
}

function settleFailure({ options: { queue, passes }, text, logger, error }: Failure): PassResult {
  const failure = classify(error);
  switch (failure) {
    case "conflict":
      logger.debug("object changed during the pass, trying again", { cause: String(error) });
      queue.retry(text);
      return "requeue";
    case "terminal":
      logger.error("pass failed for good", error);
      passes.failed("terminal");
      queue.done(text, "onChange");
      return "error";
    case "notLeader":
      queue.retry(text);
      throw new NotLeaderError("a pass may not write any more", { cause: error });
    case "bug":
    case "retry":
      logger.error(failure === "bug" ? "pass failed by a defect" : "pass failed", error);
      passes.failed(failure === "bug" ? "bug" : "error");
      if (error instanceof RetryAfterError) queue.done(text, { afterMs: error.afterMs });
      else queue.retry(text, retryAfterMs(error));
      return "error";
    default:
      return failure satisfies never;
  }
}

/** Looks through the causes as well: features wrap errors to say what they were doing. */
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
