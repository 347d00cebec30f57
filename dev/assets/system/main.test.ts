// What the program prints, and that it changes nothing, when it may not install packages: a real run with an empty
// cache and an empty PATH.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "system-"));
});
afterEach(() => rmSync(cache, { recursive: true }));

function run(...args: readonly string[]) {
  const main = join(import.meta.dirname, "main.ts");
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: "utf8",
    env: { PATH: "", XDG_CACHE_HOME: cache, HOME: cache },
  });
  return { status, lines: stderr.trimEnd().split("\n") };
}

test("with --no-install it lists missing programs and the exact commands, and changes nothing", () => {
  const folder = join(cache, "firebolt-operator/debian/prometheus");
  expect(run("--no-install", "promtool")).toEqual({
    status: 1,
    lines: [
      "missing: prometheus. On Debian or Ubuntu run, as root:",
      "  apt-get update",
      expect.stringContaining(`mkdir -p ${folder} && cd ${folder} && apt-get`),
    ],
  });
  expect(readdirSync(cache)).toEqual([]);
});

test("an unknown name is a usage error", () => {
  const { status, lines } = run("containerd", "dockerd");
  expect(status).toBe(2);
  expect(lines).toEqual([expect.stringMatching(/^unknown program dockerd: known programs are .*containerd/)]);
});
