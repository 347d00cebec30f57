import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { packPlugin } from "./plugin-archives.ts";

const release = {
  program: Buffer.from('#!/usr/bin/env node\nconsole.log("said", ...process.argv.slice(2));\n'),
  licence: Buffer.from("Anybody may.\n"),
  version: "1.2.3",
  url: "https://example.com/v1.2.3/",
  homepage: "https://example.com",
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "plugin-archives-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const contentOf = (path: string): Buffer =>
  packPlugin(release).find((file) => file.path === path)?.content ?? Buffer.from(`there is no ${path}`);

test("one archive per platform, checksums and a manifest; the same input gives the same bytes", () => {
  expect(packPlugin(release).map(({ path }) => path)).toEqual([
    "kubectl-firebolt_darwin_amd64.tar.gz",
    "kubectl-firebolt_darwin_arm64.tar.gz",
    "kubectl-firebolt_linux_amd64.tar.gz",
    "kubectl-firebolt_linux_arm64.tar.gz",
    "kubectl-firebolt_windows_amd64.tar.gz",
    "kubectl-firebolt_checksums.txt",
    "krew/firebolt.yaml",
  ]);
  expect(packPlugin(release)).toEqual(packPlugin(release));
});

test("the manifest has the checksums of the archives it names", () => {
  const { metadata, spec } = parse(contentOf("krew/firebolt.yaml").toString("utf8")) as {
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly version: string;
      readonly platforms: readonly { readonly uri: string; readonly sha256: string; readonly bin: string }[];
    };
  };
  expect([metadata.name, spec.version, spec.platforms.length]).toEqual(["firebolt", "v1.2.3", 4]);
  for (const { uri, sha256, bin } of spec.platforms) {
    expect(uri).toMatch(/^https:\/\/example\.com\/v1\.2\.3\/kubectl-firebolt_(darwin|linux)_(amd64|arm64)\.tar\.gz$/);
    const content = contentOf(uri.split("/").at(-1) ?? "");
    expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
    expect(contentOf("kubectl-firebolt_checksums.txt").toString()).toContain(`${sha256}  ${uri.split("/").at(-1)}\n`);
    expect(bin).toBe("kubectl-firebolt");
  }
});

test("a build without a download URL names none", () => {
  const files = packPlugin({ ...release, url: undefined, homepage: undefined });
  const manifest = files.find(({ path }) => path === "krew/firebolt.yaml")?.content.toString("utf8") ?? "";
  expect(manifest).not.toMatch(/https?:|homepage/);
  expect(manifest).toContain("uri: kubectl-firebolt_linux_amd64.tar.gz\n");
});

test("what a Unix archive holds runs as it is", () => {
  const archive = join(folder, "linux.tar.gz");
  writeFileSync(archive, contentOf("kubectl-firebolt_linux_amd64.tar.gz"));
  execFileSync("tar", ["xzf", archive], { cwd: folder });
  const program = join(folder, "kubectl-firebolt");
  expect(statSync(program).mode & 0o777).toBe(0o755);
  expect(execFileSync(program, ["status", "-A"], { encoding: "utf8" })).toBe("said status -A\n");
  expect(readFileSync(join(folder, "LICENSE"), "utf8")).toBe("Anybody may.\n");
});

test("the one for Windows has a launcher beside the program", () => {
  const archive = join(folder, "windows.tar.gz");
  writeFileSync(archive, contentOf("kubectl-firebolt_windows_amd64.tar.gz"));
  const names = execFileSync("tar", ["tzf", archive], { encoding: "utf8" }).trim().split("\n");
  expect(names).toEqual(["kubectl-firebolt.cmd", "kubectl-firebolt.mjs", "LICENSE"]);
});
