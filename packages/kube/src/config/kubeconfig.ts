// Finds the cluster configuration: an explicit kubeconfig, $KUBECONFIG, the pod's own service account, ~/.kube/config.
// Returns a ClusterConfig and opens no connection. Every error names the file, the field and the remedy.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KubeConfigError } from "../core/errors.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { inClusterConfig } from "./in-cluster.ts";
import { type KubeconfigFile, parseKubeconfigFile, type UserEntry } from "./kubeconfig-file.ts";

export type Environment = Readonly<Record<string, string | undefined>>;
/** Reads a file as a string; throws what `readFileSync` throws. */
export type ReadFile = (path: string) => string;

/** Where to look for the cluster configuration. */
export interface KubeconfigOptions {
  /** An explicit file; the other sources are then ignored. */
  readonly path?: string | undefined;
  readonly env: Environment;
  readonly homeDir: string;
  /** Overrides the file's current-context. */
  readonly context?: string | undefined;
  readonly readFile?: ReadFile | undefined;
  /** Where the pod's service account is mounted. */
  readonly serviceAccountFolder?: string | undefined;
}

const readText: ReadFile = (path) => readFileSync(path, "utf8");
const ANONYMOUS: UserEntry = { authentication: { type: "none" }, clientCertificate: undefined, impersonate: undefined };

/**
 * Finds the cluster configuration: an explicit kubeconfig, $KUBECONFIG, the pod's own service account, ~/.kube/config.
 * HTTPS_PROXY is ignored: the API server is reached through a proxy only if its kubeconfig configures one.
 */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<ClusterConfig> {
  const { path, env, homeDir, readFile = readText } = options;
  if (path) return select([await readKubeconfig(path, readFile)], options.context);
  const listed = (env["KUBECONFIG"] ?? "").split(":").filter((entry) => entry !== "");
  if (listed.length > 0) {
    const files = await readExisting(listed, readFile);
    if (files.length > 0) return select(files, options.context);
    throw new KubeConfigError(
      `KUBECONFIG names ${listed.join(", ")}, which ${listed.length === 1 ? "does" : "do"} not exist: correct it or unset it`,
    );
  }
  const inCluster = inClusterConfig({ env, folder: options.serviceAccountFolder, readFile });
  if (inCluster !== undefined) return inCluster;
  const home = join(homeDir, ".kube", "config");
  const files = await readExisting([home], readFile);
  if (files.length > 0) return select(files, options.context);
  throw new KubeConfigError(
    `no cluster configuration: no kubeconfig was given, KUBECONFIG is not set, this is not a pod (KUBERNETES_SERVICE_HOST is not set) and ${home} does not exist`,
  );
}

/** The files that exist, in order: KUBECONFIG may list files that do not exist yet. */
async function readExisting(paths: readonly string[], readFile: ReadFile): Promise<KubeconfigFile[]> {
  const files: KubeconfigFile[] = [];
  for (const path of paths) {
    try {
      files.push(await readKubeconfig(path, readFile));
    } catch (error) {
      if (!(error instanceof KubeConfigError && isMissing(error.cause))) throw error;
    }
  }
  return files;
}

async function readKubeconfig(path: string, readFile: ReadFile): Promise<KubeconfigFile> {
  let text: string;
  try {
    text = readFile(path);
  } catch (cause) {
    throw new KubeConfigError(`kubeconfig ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  // Loaded on demand: inside a cluster the YAML parser is not needed.
  const { parse } = await import("yaml");
  let document: unknown;
  try {
    document = parse(text);
  } catch (cause) {
    // A parser quotes the lines around a mistake.
    const safeMessage = `kubeconfig ${path} is not YAML`;
    throw new KubeConfigError(`${safeMessage}: ${messageOf(cause)}`, { cause, safeMessage, isUnusable: true });
  }
  return parseKubeconfigFile(path, document);
}

function select(files: readonly KubeconfigFile[], wanted: string | undefined): ClusterConfig {
  const where = files.map((file) => file.path).join(", ");
  const contexts = firstWins(files.map((file) => file.contexts));
  const clusters = firstWins(files.map((file) => file.clusters));
  const users = firstWins(files.map((file) => file.users));
  const name = wanted ?? files.find((file) => file.currentContext !== undefined)?.currentContext;
  if (name === undefined)
    throw new KubeConfigError(`${where}: current-context is not set; ${available("contexts", contexts)}`, {
      isUnusable: contexts.size === 0,
    });
  const context = lookUp(contexts, "contexts", { name, where: `${where}: context` })();
  const inContext = `${where}: context "${name}"`;
  if (context.cluster === undefined) throw new KubeConfigError(`${inContext} names no cluster`);
  const cluster = lookUp(clusters, "clusters", { name: context.cluster, where: `${inContext}: cluster` })();
  const user =
    context.user === undefined
      ? ANONYMOUS
      : lookUp(users, "users", { name: context.user, where: `${inContext}: user` })();
  const { execConfig, ...address } = cluster;
  const authentication =
    user.authentication.type === "exec"
      ? ({ type: "exec", plugin: { ...user.authentication.plugin, clusterConfig: execConfig } } as const)
      : user.authentication;
  return { origin: inContext, namespace: context.namespace, ...address, ...user, authentication };
}

function firstWins<T>(maps: readonly ReadonlyMap<string, T>[]): Map<string, T> {
  const merged = new Map<string, T>();
  for (const map of maps) for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry);
  return merged;
}

function lookUp<T>(
  entries: ReadonlyMap<string, T>,
  plural: string,
  wanted: { readonly name: string; readonly where: string },
): T {
  const entry = entries.get(wanted.name);
  if (entry === undefined)
    throw new KubeConfigError(`${wanted.where} "${wanted.name}" not found; ${available(plural, entries)}`, {
      isUnusable: plural === "contexts" && entries.size === 0,
    });
  return entry;
}

function available(plural: string, entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? `there are no ${plural}` : `${plural} available: ${[...entries.keys()].join(", ")}`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
