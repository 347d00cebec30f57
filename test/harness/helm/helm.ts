// Helm on the charts of the repository: render, lint, install.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { expectHelm, type HelmResult, spawnHelm } from "../../../dev/deploy/helm-process.ts";

const ROOT = join(import.meta.dirname, "../../..");
export const OPERATOR_CHART = join(ROOT, "charts/firebolt-operator");
export const CRD_CHART = join(ROOT, "charts/firebolt-operator-crds");

export type Values = Readonly<Record<string, unknown>>;

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
  run(args: readonly string[]): Promise<HelmResult>;
  /** Returns what Helm printed; throws with its output unless it exits with 0. */
  expect(args: readonly string[]): Promise<string>;
  /** The output of `helm template`; throws when Helm fails. */
  template(release: Release): Promise<string>;
  render(release: Release): Promise<readonly RenderedObject[]>;
  /** The manifests and notes of an installation, without a cluster. */
  notes(release: Release): Promise<string>;
  /** `helm template` that is expected to fail; returns its error output. */
  refusal(release: Release): Promise<string>;
  install(release: Release, kubeconfig: string): Promise<void>;
  /** `helm upgrade`; waits for nothing. */
  upgrade(release: Release, kubeconfig: string): Promise<void>;
}

export async function openHelm(): Promise<Helm> {
  const folder = await mkdtemp(join(tmpdir(), "helm-"));
  let files = 0;

  const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
  const run = (args: readonly string[]): Promise<HelmResult> => spawnHelm({ args, folder, env });
  const expect = (args: readonly string[]): Promise<string> => expectHelm({ args, folder, env });
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
