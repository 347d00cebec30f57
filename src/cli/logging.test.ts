import { expect, test } from "vitest";
import { createLogger, type LoggingOptions } from "./logging.ts";

function capture(overrides: Partial<LoggingOptions> = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    encoder: "json",
    level: "info",
    timeEncoding: "rfc3339",
    stacks: false,
    sampled: false,
    write: (line) => lines.push(line),
    now: () => Date.UTC(2026, 1, 3, 4, 5, 6, 789),
    ...overrides,
  });
  return { logger, lines, last: (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? "{}") };
}

test("one JSON object per line under the documented keys", () => {
  const { logger, lines, last } = capture();
  logger.with({ logger: "setup" }).info("starting", { version: "1.2.3" });
  expect(lines).toHaveLength(1);
  expect(last()).toEqual({
    level: "info",
    ts: "2026-02-03T04:05:06Z",
    logger: "setup",
    version: "1.2.3",
    msg: "starting",
  });
});

test("an error line carries the message with its causes, and the stack when enabled", () => {
  const error = new Error("write status", { cause: new Error("connection reset") });
  const plain = capture();
  plain.logger.error("pass failed", error, { name: "e1" });
  expect(plain.last()).toMatchObject({
    level: "error",
    msg: "pass failed",
    error: "write status: connection reset",
    name: "e1",
  });
  expect(plain.last()).not.toHaveProperty("stacktrace");
  const stacks = capture({ stacks: true });
  stacks.logger.error("pass failed", error);
  expect(stacks.last()["stacktrace"]).toContain("logging.test.ts");
});

test("debug lines appear only at debug level", () => {
  const quiet = capture();
  quiet.logger.debug("applied");
  expect(quiet.lines).toEqual([]);
  const loud = capture({ level: "debug" });
  loud.logger.debug("applied");
  expect(loud.last()).toMatchObject({ level: "debug", msg: "applied" });
});

test("a flood of one message is sampled, other messages are not", () => {
  const { logger, lines } = capture({ sampled: true });
  for (let i = 0; i < 1000; i++) logger.info("again");
  logger.info("other");
  expect(lines).toHaveLength(100 + 9 + 1);
});

test.each([
  { timeEncoding: "epoch", want: 1770091506.789 },
  { timeEncoding: "millis", want: 1770091506789 },
  { timeEncoding: "nano", want: 1770091506789000000 },
  { timeEncoding: "iso8601", want: "2026-02-03T04:05:06.789+0000" },
  { timeEncoding: "rfc3339nano", want: "2026-02-03T04:05:06.789Z" },
] as const)("time as $timeEncoding", ({ timeEncoding, want }) => {
  const { logger, last } = capture({ timeEncoding });
  logger.info("x");
  expect(last()["ts"]).toBe(want);
});

test("console lines read left to right: time, level, message, fields", () => {
  const { logger, lines } = capture({ encoder: "console" });
  logger.info("phase changed", { from: "stable", to: "creating", generation: 4 });
  expect(lines).toEqual(["2026-02-03T04:05:06Z  INFO   phase changed  from=stable  to=creating  generation=4\n"]);
});
