// Running a page: documented and actual output must match; a mismatch names the line. With a real bash, no cluster.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseDocPage } from "./support/commands.ts";
import { runStep } from "./support/run-step.ts";
import { openDocShell } from "./support/shell.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "doc-run-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...lines: readonly string[]): Promise<void> {
  const { steps, problems } = parseDocPage(lines.join("\n"));
  expect(problems).toEqual([]);
  await using shell = openDocShell({ folder, env: { PATH: process.env["PATH"] } });
  for (const step of steps) await runStep(step, { shell, folder, againMs: 0 });
}

test("a page that is right: files, set-up, commands and an expected failure", async () => {
  await run(
    "```yaml",
    "# file: a.yaml",
    "kind: A",
    "```",
    "<!-- test: greeting=hello -->",
    "```console",
    '$ echo "$greeting, $(cat a.yaml)"',
    "hello, kind: …",
    "$ true",
    "```",
    "```console fails",
    "$ ls /nowhere",
    "ls: cannot access …",
    "```",
  );
});

test("until: repeated until it prints what the page shows", async () => {
  await run("```console until", "$ echo x >> count; wc -l < count", "2", "```");
});

test.each([
  [
    "another output",
    ["```console", "$ echo b", "a", "```"],
    /^line 2: printed something else .*\$ echo b\n--- shown\na\n--- printed\nb\n/s,
  ],
  ["a failure", ["```console", "$ false", "```"], /^line 2: ended with 1/],
  ["no failure", ["```console fails", "$ true", "```"], /^line 2: exited with 0, but the page expects a failure/],
  ["a failure of the set-up", ["<!-- test: exit_with() { return 3; }; exit_with -->"], /^line 1: set-up ended with 3/],
])("%s is reported with its line", async (_, lines, message) => {
  await expect(run(...lines)).rejects.toThrow(message);
});
