// The real Helm on the charts of the repository: render, lint, install. Its caches and configuration live in a folder of the test's
// own, so that nothing of the user's Helm changes what it does.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { resolveAssets } from "../../dev/assets/resolver.ts";

const ROOT = join(import.meta.dirname, "../..");
export const OPERATOR_CHART = join(ROOT, "charts/firebolt-operator");
export const CRD_CHART = join(ROOT, "charts/firebolt-operator-crds");

export type Values = Readonly<Record<string, unknown>>;

export interface HelmAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One object as Helm rendered it. */
export interface RenderedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly chart?: string;
  readonly values?: Values;
  readonly args?: readonly string[];
}

export interface Helm extends AsyncDisposable {
  run(args: readonly string[]): Promise<HelmAnswer>;
  /** Runs Helm and fails with what it said unless it ends with 0; answers what it printed. */
  expect(args: readonly string[]): Promise<string>;
  /** `helm template` as text; fails when Helm does. */
  template(release: Release): Promise<string>;
  render(release: Release): Promise<readonly RenderedObject[]>;
  /** What an installation would print, without a cluster: the manifests and the notes. */
  notes(release: Release): Promise<string>;
  /** `helm template` that is meant to fail; answers what it says. */
  refusal(release: Release): Promise<string>;
  install(release: Release, kubeconfig: string): Promise<void>;
  /** `helm upgrade`; waits for nothing. */
  upgrade(release: Release, kubeconfig: string): Promise<void>;
}

export async function openHelm(): Promise<Helm> {
  const binary = (await resolveAssets(["helm"])).get("helm");
  if (binary === undefined) throw new Error("no binary for helm");
  const folder = await mkdtemp(join(tmpdir(), "helm-"));
  let files = 0;

  const run = async (args: readonly string[]): Promise<HelmAnswer> => {
    const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"], env: environment(folder) });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    await once(child, "close");
    return { code: child.exitCode, stdout, stderr };
  };
  const expect = async (args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(args);
    if (code !== 0) throw new Error(`helm ${args.join(" ")} ended with ${code}:\n${stderr}${stdout}`);
    return stdout;
  };
  const argsOf = async (verb: string, release: Release): Promise<readonly string[]> => {
    files += 1;
    // JSON is YAML.
    const file = join(folder, `values-${files}.yaml`);
    await writeFile(file, JSON.stringify(release.values ?? {}));
    const { name, namespace, chart = OPERATOR_CHART, args = [] } = release;
    return [verb, name, chart, `--namespace=${namespace}`, `--values=${file}`, ...args];
  };
  const change = async (verb: string, release: Release, kubeconfig: string): Promise<void> => {
    await expect([...(await argsOf(verb, release)), `--kubeconfig=${kubeconfig}`, "--wait=hookOnly"]);
  };
  const template = async (release: Release) => expect(await argsOf("template", release));
  return {
    run,
    expect,
    template,
    notes: async (release) => expect([...(await argsOf("install", release)), "--dry-run=client"]),
    render: async (release) => parseManifests(await template(release)),
    async refusal(release) {
      const { code, stdout, stderr } = await run(await argsOf("template", release));
      if (code === 0) throw new Error(`Helm accepts ${JSON.stringify(release.values)}:\n${stdout}`);
      return stderr;
    },
    install: (release, kubeconfig) => change("install", release, kubeconfig),
    // Without values Helm would silently take those of the last release.
    upgrade: ({ args = [], ...release }, kubeconfig) =>
      change("upgrade", { ...release, args: [...args, "--reset-values"] }, kubeconfig),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The documents of a manifest stream; empty ones are left out. */
export function parseManifests(text: string): readonly RenderedObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`not YAML: ${document.errors[0]?.message}\n${text}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) return [];
    if (!isRendered(value)) throw new TypeError(`not an object: ${JSON.stringify(value)}`);
    return [value];
  });
}

function isRendered(value: unknown): value is RenderedObject {
  return typeof value === "object" && value !== null && "apiVersion" in value && "kind" in value && "metadata" in value;
}

function environment(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    HELM_CACHE_HOME: join(folder, "cache"),
    HELM_CONFIG_HOME: join(folder, "config"),
    HELM_DATA_HOME: join(folder, "data"),
  };
}
