import { expect, test } from "vitest";
import { InvariantError, KubeApiError, NotLeaderError } from "../core/errors.ts";
import type { LogFields, Logger } from "../core/logger.ts";
import type { PassRecorder } from "../metrics/runtime.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { type NextCheck, type Reconcile, RetryAfterError, TerminalError } from "./controller.ts";
import { classify, work } from "./worker.ts";
import { WorkQueue } from "./workqueue.ts";

interface Line extends LogFields {
  readonly level: string;
  readonly message: string;
}

function collectingLogger(lines: Line[], base: LogFields = {}): Logger {
  return {
    debug: (message, fields) => lines.push({ level: "debug", message, ...base, ...fields }),
    info: (message, fields) => lines.push({ level: "info", message, ...base, ...fields }),
    error: (message, error, fields) => lines.push({ level: "error", message, error, ...base, ...fields }),
    with: (fields) => collectingLogger(lines, { ...base, ...fields }),
  };
}

function setUp(reconcile: Reconcile) {
  const clock = new ManualClock();
  const queue = new WorkQueue({ clock });
  const lines: Line[] = [];
  const recorded: string[] = [];
  const passes: PassRecorder = {
    started: () => recorded.push("started"),
    finished: (_durationMs, result) => recorded.push(result ?? "cut"),
    failed: (kind) => recorded.push(`failed:${kind}`),
  };
  const stop = new AbortController();
  const logger = collectingLogger(lines, { controller: "test" });
  const working = work({ queue, reconcile, logger, clock, passes }, stop.signal);
  return { clock, queue, lines, recorded, stop, working };
}

const conflict = new KubeApiError("PUT x", 409, { reason: "Conflict", message: "changed" });
const overloaded = new KubeApiError("PUT x", 503, { details: { retryAfterSeconds: 4 } });

const owned = new KubeApiError("PATCH x", 409, {
  reason: "Conflict",
  message: 'Apply failed with 1 conflict: conflict with "kubectl-create" using v1: .spec.selector',
  details: { causes: [{ reason: "FieldManagerConflict", field: ".spec.selector" }] },
});

test.each([
  { next: "onChange" as NextCheck, result: "success", passesAfter: { 5: 1, 60000: 1 } },
  { next: "requeue" as NextCheck, result: "requeue", passesAfter: { 4: 1, 5: 2 } },
  { next: { afterMs: 100 }, result: "requeue_after", passesAfter: { 99: 1, 100: 2 } },
])("a pass that ends in $next counts as $result", async ({ next, result, passesAfter }) => {
  let count = 0;
  const { clock, queue, recorded } = setUp(async () => {
    count += 1;
    return count === 1 ? next : "onChange";
  });
  queue.add("ns/a");
  await clock.advance(0);
  expect(recorded).toEqual(["started", result]);
  let elapsed = 0;
  for (const [at, want] of Object.entries(passesAfter)) {
    await clock.advance(Number(at) - elapsed);
    elapsed = Number(at);
    expect(count, `after ${at} ms`).toBe(want);
  }
});

test.each([
  { name: "conflict", error: conflict, recorded: ["started", "requeue"], level: "debug", retriedAtMs: 5 },
  {
    name: "failure",
    error: new Error("x"),
    recorded: ["started", "failed:error", "error"],
    level: "error",
    retriedAtMs: 5,
  },
  {
    name: "overload",
    error: overloaded,
    recorded: ["started", "failed:error", "error"],
    level: "error",
    retriedAtMs: 4000,
  },
  {
    name: "defect",
    error: new InvariantError("x"),
    recorded: ["started", "failed:bug", "error"],
    level: "error",
    retriedAtMs: 5,
  },
  {
    name: "failure that knows when to try again",
    error: new RetryAfterError("x", { afterMs: 10_000, cause: overloaded }),
    recorded: ["started", "failed:error", "error"],
    level: "error",
    retriedAtMs: 10_000,
  },
  {
    name: "terminal error",
    error: new TerminalError("x"),
    recorded: ["started", "failed:terminal", "error"],
    level: "error",
    retriedAtMs: undefined,
  },
])("a $name is counted, logged with its key, and retried when that can help", async (row) => {
  let count = 0;
  const { clock, queue, recorded, lines } = setUp(async () => {
    count += 1;
    if (count === 1) throw row.error;
    return "onChange";
  });
  queue.add("ns/a");
  await clock.advance((row.retriedAtMs ?? 1_000_000) - 1);
  expect(count).toBe(1);
  expect(recorded).toEqual(row.recorded);
  expect(lines).toMatchObject([{ level: row.level, controller: "test", namespace: "ns", name: "a" }]);
  expect(lines[0]?.["reconcileID"]).toMatch(/^[0-9a-f-]{36}$/);
  await clock.advance(1);
  expect(count).toBe(row.retriedAtMs === undefined ? 1 : 2);
});

test("a pass that may not write any more ends the worker", async () => {
  const { queue, working, recorded } = setUp(async () => {
    throw new Error("apply failed", { cause: new NotLeaderError("lease lost") });
  });
  queue.add("a");
  await expect(working).rejects.toThrow(NotLeaderError);
  expect(recorded).toEqual(["started", "cut"]);
});

test("a pass in flight gets the signal, and its failure after that is no error", async () => {
  const { clock, queue, stop, working, recorded, lines } = setUp(
    (_key, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  queue.add("a");
  await clock.advance(0);
  stop.abort();
  await working;
  expect(recorded).toEqual(["started", "cut"]);
  expect(lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("a function that throws at once, or answers nonsense, costs its key a retry and no more", async () => {
  let count = 0;
  const { clock, queue, recorded } = setUp(() => {
    count += 1;
    if (count === 1) throw new TypeError("not a function");
    return Promise.resolve(count === 2 ? { afterMs: Number.NaN } : "onChange");
  });
  queue.add("a");
  await clock.advance(1000);
  expect(recorded).toEqual(["started", "failed:bug", "error", "started", "failed:bug", "error", "started", "success"]);
});

test("a heartbeat reaches the queue", async () => {
  const gate = Promise.withResolvers<NextCheck>();
  let beat = (): void => undefined;
  const { clock, queue } = setUp((_key, _signal, pass) => {
    beat = pass.heartbeat;
    return gate.promise;
  });
  queue.add("a");
  await clock.advance(500);
  expect(queue.running().longestSilentMs).toBe(500);
  beat();
  expect(queue.running().longestSilentMs).toBe(0);
  gate.resolve("onChange");
});

test.each([
  { error: conflict, want: "conflict" },
  { error: new KubeApiError("POST x", 409, { reason: "AlreadyExists" }), want: "retry" },
  { error: new Error("apply", { cause: conflict }), want: "conflict" },
  { error: new Error("apply", { cause: new NotLeaderError("x") }), want: "notLeader" },
  { error: new TerminalError("x", { cause: conflict }), want: "terminal" },
  { error: new RangeError("x"), want: "bug" },
  { error: "a string", want: "retry" },
  { error: undefined, want: "retry" },
])("an error like $error means $want", ({ error, want }) => {
  expect(classify(error)).toBe(want);
});

test("passes that never wait still let timers run", async () => {
  const queue = new WorkQueue({
    clock: { now: () => 0, monotonicMs: () => performance.now(), after: () => () => undefined },
  });
  const stop = new AbortController();
  const passes: PassRecorder = { started: () => 0, finished: () => 0, failed: () => 0 };
  const logger = collectingLogger([]);
  let count = 0;
  const reconcile: Reconcile = async (key) => {
    count += 1;
    queue.add(key.name);
    return "onChange";
  };
  const clock = { now: () => 0, monotonicMs: () => performance.now(), after: () => () => undefined };
  queue.add("a");
  setTimeout(() => stop.abort(), 30);
  await work({ queue, reconcile, logger, clock, passes }, stop.signal);
  expect(count).toBeGreaterThan(1);
});

test("a field that another manager owns is an error that people see, not a race that is retried in silence", async () => {
  let count = 0;
  const { clock, queue, lines, recorded } = setUp(async () => {
    count += 1;
    throw new Error("apply Service s-g0-hl", { cause: owned });
  });
  queue.add("ns/a");
  await clock.advance(0);
  expect(recorded).toEqual(["started", "failed:error", "error"]);
  expect(lines).toMatchObject([{ level: "error", message: "pass failed" }]);
  await clock.advance(5);
  expect(count).toBe(2);
});
