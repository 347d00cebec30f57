// The shell in which the commands of a page run, with a real bash.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { openDocShell } from "./support/shell.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "doc-shell-"));
});
afterEach(() => vi.useRealTimers());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open = () => openDocShell({ folder, env: { PATH: process.env["PATH"], GREETING: "hello" } });

test("what a command prints, on both streams, and how it ends", async () => {
  await using shell = open();
  expect(await shell.run("echo out; echo err >&2", 5_000)).toEqual({ printed: "out\nerr\n", code: 0 });
  expect(await shell.run("printf 'no newline'; false", 5_000)).toEqual({ printed: "no newline", code: 1 });
  expect(await shell.run("true", 5_000)).toEqual({ printed: "", code: 0 });
});

test("variables, the folder and jobs stay; the input is empty", async () => {
  await using shell = open();
  await shell.run('name="$GREETING world"; sleep 60 & job=$!', 5_000);
  expect(await shell.run('echo "$name"; pwd; kill -0 "$job" && echo running', 5_000)).toMatchObject({
    printed: `hello world\n${folder}\nrunning\n`,
  });
  expect(await shell.run("cat", 5_000)).toEqual({ printed: "", code: 0 });
});

test("a script of several lines, with a document in it", async () => {
  await using shell = open();
  expect(await shell.run("cat <<'EOF' |\nthree\nEOF\nwc -l", 5_000)).toEqual({ printed: "1\n", code: 0 });
});

test("a command that does not exit is aborted", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await using slow = open();
  const givenUp = expect(slow.run("echo begun; sleep 60", 200)).rejects.toThrow(
    /not done after 0.2 s: echo begun; sleep 60\nbegun/,
  );
  while (!slow.printed.includes("begun")) await turn();
  vi.advanceTimersByTime(200);
  await givenUp;
});

test("a shell that ends is noticed", async () => {
  await using gone = open();
  await expect(gone.run("exit 3", 5_000)).rejects.toThrow("the shell ended");
});
