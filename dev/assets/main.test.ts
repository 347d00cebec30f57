// The command line of `npm run assets`, as a separate process, with programs that already exist.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_ASSETS } from "./pins.ts";

const folder = mkdtempSync(join(tmpdir(), "assets-test-"));
const given = join(folder, "given");
beforeAll(() => {
  mkdirSync(given);
  for (const name of [...DEFAULT_ASSETS, "kwok"]) {
    writeFileSync(join(given, name), "");
    chmodSync(join(given, name), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: readonly string[]) {
  const env = { XDG_CACHE_HOME: folder, KUBEBUILDER_ASSETS: given };
  return spawnSync(process.execPath, [join(import.meta.dirname, "main.ts"), ...args], { env, encoding: "utf8" });
}

test("the last line names one folder with links to everything requested, the same one each time", () => {
  const first = run("--with", "kwok");
  expect(first).toMatchObject({ status: 0, stderr: "" });
  const linked = first.stdout.trimEnd();
  expect(readdirSync(linked).sort()).toEqual([...DEFAULT_ASSETS, "kwok"].sort());
  expect(readlinkSync(join(linked, "kwok"))).toBe(join(given, "kwok"));
  expect(run("--with=kwok").stdout).toBe(first.stdout);
  expect(run().stdout).not.toBe(first.stdout);
});

test("an unknown name is rejected, with the known names", () => {
  const refused = run("--with", "kwok,minikube");
  expect(refused).toMatchObject({ status: 2, stdout: "" });
  expect(refused.stderr).toContain("unknown program minikube. Known names: etcd, kube-apiserver");
});

test("--missing names what would have to be fetched, and fetches nothing", () => {
  expect(run("--with", "kwok,helm,coredns", "--missing")).toMatchObject({
    status: 0,
    stdout: "helm\ncoredns\n",
    stderr: "",
  });
});

test("an unknown option is rejected, with the usage", () => {
  expect(run("--without", "etcd")).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("Usage: npm run -s assets"),
  });
});
