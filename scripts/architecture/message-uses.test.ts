// No code under src reads the operator's own messages: whatever one pass must know of another is a field of the status, a reason, or
// computed again.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sourceFiles } from "./import-graph.ts";
import { messageUses } from "./message-uses.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Messages of other programs, which have no other form. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  "src/cli/logging.ts": "errors of any program: the log does not repeat a cause",
  "src/instance/model/rejection.ts": "the API server says immutable in a response 400",
  "src/pods/unschedulable.ts": "the scheduler's reason",
  "src/plugin/plan/dry-run.ts": "the API server's response to a dry run",
  "src/plugin/plan/manifest-file.ts": "the YAML parser",
  "src/plugin/plan/without-values.ts": "the API server's response to a dry run",
  "src/plugin/status/remedies.ts": "the API server's words, which conditions quote (isQuoting in src/api/reasons.ts)",
};

const found = sourceFiles(ROOT)
  .filter((file) => file.startsWith("src/") && !file.endsWith(".test.ts"))
  .flatMap((file) => messageUses(file, readFileSync(join(ROOT, file), "utf8")).map((use) => ({ file, ...use })));

test("messages of our own are neither compared nor taken apart", () => {
  const own = found.filter(({ file }) => !Object.hasOwn(OF_OTHERS, file));
  expect(own.map(({ file, line, text }) => `${file}:${line}: ${text}`)).toEqual([]);
});

test("every exception is still needed", () => {
  expect(Object.keys(OF_OTHERS).filter((file) => !found.some((use) => use.file === file))).toEqual([]);
});

const inTemplate = (expression: string): string => ["`$", `{${expression}}`, "`"].join("");

test.each([
  ['if (ready?.message.includes("x")) f();', 1],
  ['if (findCondition(list, "Ready")?.message.endsWith(text)) f();', 1],
  ['const end = (ready?.message ?? "").indexOf("; ");', 1],
  ["if (/ \\(x\\d+\\)$/.test(message)) f();", 1],
  ["if (before?.message !== after?.message) f();", 1],
  ['const { message: text } = ready; if (text.endsWith("x")) f();', 1],
  ['const { message: text = "" } = ready; if (text === "x") f();', 1],
  ['const text = ready?.message ?? ""; if (text.includes("x")) f();', 1],
  ['if (ready["message"] === "x") f();', 1],
  ['switch (ready.message) { case "x": f(); }', 1],
  ["if (KNOWN.has(ready.message)) f();", 1],
  ["const row = ROWS[ready.message];", 1],
  ['if (ready?.message?.startsWith("x")) f();', 1],
  ['if ((ready.message as string) === "x") f();', 1],
  [`if (${inTemplate("ready.message")} === "x") f();`, 1],
  ['if (String(ready.message) === "x") f();', 1],
  ['if (ready.message.trim().startsWith("x")) f();', 1],
  ['if (ready.message.toLowerCase().includes("x")) f();', 1],
  ['if (ready.message.at(-1) === ".") f();', 1],
  ["if (isDeepStrictEqual(one.message, other.message)) f();", 1],
  ["if (Object.is(one.message, other.message)) f();", 1],
  [`const { message } = ready; f(${inTemplate("message")} + more);`, 0],
  ["const rest = { ...one, message: one.message + more };", 0],
  ['if (message === undefined || message === "") f();', 0],
  ['if (ready.reason === "Rolling") f(ready.message);', 0],
])("%s", (source, uses) => {
  expect(messageUses("src/example.ts", source)).toHaveLength(uses);
});
