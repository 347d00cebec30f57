import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkVersion } from "./check-version.ts";

const folder = mkdtempSync(join(tmpdir(), "version-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const check = (output: string, version: string) => {
  const path = join(folder, "program");
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo '${output}'\n`, { mode: 0o755 });
  return checkVersion(path, "program", { version, versionArgs: ["--version"] });
};

test.each([
  ["Kubernetes v1.36.3", "v1.36.3"],
  ["etcd Version: 3.6.8", "v3.6.8"],
  ["CoreDNS-1.14.7", "v1.14.7"],
  ["kwok version v0.8.0 go1.26.8 (linux/amd64)", "v0.8.0"],
  ["envoy  version: 68f1e2a/1.40.0/Clean/RELEASE/BoringSSL", "v1.40.0"],
  ['version.BuildInfo{Version:"v4.3.1", GitCommit:"c0d08d0"}', "v4.3.1"],
])("%s is accepted", async (output, version) => {
  await check(output, version);
});

test("another version, a pre-release of it and no version are rejected", async () => {
  await expect(check("etcd Version: 3.6.13", "v3.6.1")).rejects.toThrow("program reports 3.6.13 instead of 3.6.1");
  await expect(check("v1.36.3-rc.1", "v1.36.3")).rejects.toThrow("reports 1.36.3-rc.1");
  await expect(check("unknown", "v1.0.0")).rejects.toThrow("reports no version");
});
