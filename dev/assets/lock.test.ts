// A real lock file, with owners that run, have exited or do not refresh it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./lock.ts";

let folder: string;
let path: string;
const quiet = () => undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lock-test-"));
  path = join(folder, "lock");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("one at a time, and the lock file is removed", async () => {
  let inside = 0;
  let most = 0;
  const action = async () => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => withLock(path, quiet, action)));
  expect(most).toBe(1);
  expect(existsSync(path)).toBe(false);
});

test("a failure releases the lock", async () => {
  await expect(withLock(path, quiet, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withLock(path, quiet, () => Promise.resolve("yes"))).toBe("yes");
});

test("the lock of a process that has died is taken over", async () => {
  const dead = spawn("/bin/true");
  await once(dead, "exit");
  writeFileSync(path, JSON.stringify({ pid: dead.pid, host: hostname(), token: "dead" }));
  expect(await withLock(path, quiet, () => Promise.resolve("taken"))).toBe("taken");
});

test("a lock that was not refreshed is taken over although its process id exists", async () => {
  writeFileSync(path, JSON.stringify({ pid: process.pid, host: hostname(), token: "reused" }));
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(path, longAgo, longAgo);
  expect(await withLock(path, quiet, () => Promise.resolve("taken"))).toBe("taken");
});

test("a waiting process names the owner", async () => {
  const lines: string[] = [];
  let waiting = Promise.resolve();
  await withLock(path, quiet, async () => {
    waiting = withLock(
      path,
      (line) => lines.push(line),
      () => Promise.resolve(),
    );
    while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
  });
  await waiting;
  expect(lines[0]).toMatch(new RegExp(`^waiting for process ${process.pid}, which is building programs: \\d+ s$`));
});
