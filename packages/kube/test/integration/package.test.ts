// The package as its users get it: packed by npm, installed into an empty folder, run by plain Node against a real API
// server.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createNamespace } from "../support/cluster.ts";
import { expectCopies, startCopier } from "../support/copier.ts";
import { type Installed, packAndInstall } from "../support/packed-package.ts";
import { testClient } from "../support/test-client.ts";

const INSTALLED = "node_modules/@firebolt-operator/kube";
const ROOT = join(import.meta.dirname, "../../../..");
let installed: Installed;

beforeAll(() => {
  installed = packAndInstall();
});
afterAll(() => installed[Symbol.dispose]());

test("the packed example runs", async () => {
  const namespace = await createNamespace("packed");
  const program = join(installed.folder, INSTALLED, "examples/configmap-copier/main.js");
  await using copier = startCopier(program, { kubeconfig: inject("adminKubeconfig"), namespace });
  const client = await testClient();
  await expectCopies(copier, client, namespace);
  client.close();
});

test("the package contains what it needs, and neither sources nor tests", () => {
  const { files } = installed;
  expect(files).toEqual(
    expect.arrayContaining(["package.json", "README.md", "LICENSE", "docs/api.md", "dist/index.js"]),
  );
  expect(files).toContain("dist/testing/control-plane/reaper.sh");
  expect(files.filter((file) => /^(src|test|scripts)\/|\.test\.|(?<!\.d|^examples\/.*)\.ts$/.test(file))).toEqual([]);
});

test("its entries load, and nothing else does", () => {
  const script = `
    const name = "@firebolt-operator/kube";
    const { exports } = (await import(name + "/package.json", { with: { type: "json" } })).default;
    for (const entry of Object.keys(exports)) if (!entry.endsWith(".json")) await import(name + entry.slice(1));
    for (const path of ["/dist/core/errors.js", "/src/core/errors.ts", "/client/calls"])
      await import(name + path).then(() => console.log("loads", path), (error) => console.log(error.code));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: installed.folder,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n")).toEqual(Array(3).fill("ERR_PACKAGE_PATH_NOT_EXPORTED"));
});

test("its declarations compile in a user's project", () => {
  const { folder } = installed;
  cpSync(join(folder, INSTALLED, "examples/configmap-copier/main.ts"), join(folder, "main.mts"));
  symlinkSync(join(ROOT, "node_modules/@types"), join(folder, "node_modules/@types"));
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  execFileSync(tsc, [...options, "--skipLibCheck", "false", "main.mts"], { cwd: folder, stdio: ["ignore", 2, 2] });
});
