// One kubeconfig file as typed entries: clusters, users and contexts by name, with relative paths made absolute.
// Neither selects a context nor reads the files that entries name.
import { dirname, isAbsolute, resolve } from "node:path";
import { KubeConfigError } from "../core/errors.ts";
import { FieldReader } from "../core/fields.ts";
import type { Authentication, ExecPlugin, Impersonation, PemSource } from "./cluster-config.ts";

export interface ClusterEntry {
  readonly server: string;
  readonly certificateAuthority: PemSource | undefined;
  readonly insecureSkipTlsVerify: boolean;
  readonly tlsServerName: string | undefined;
  readonly proxyUrl: string | undefined;
  /** The extension that exec plugins receive. */
  readonly execConfig: unknown;
}

export interface UserEntry {
  readonly authentication: Authentication;
  readonly clientCertificate: { readonly certificate: PemSource; readonly key: PemSource } | undefined;
  readonly impersonate: Impersonation | undefined;
}

export interface ContextEntry {
  readonly cluster: string | undefined;
  readonly user: string | undefined;
  readonly namespace: string | undefined;
}

/** Entries are parsed when selected: a broken user that the current context does not use must not prevent the start. */
export interface KubeconfigFile {
  readonly path: string;
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, () => ClusterEntry>;
  readonly users: ReadonlyMap<string, () => UserEntry>;
  readonly contexts: ReadonlyMap<string, () => ContextEntry>;
}

export function parseKubeconfigFile(path: string, document: unknown): KubeconfigFile {
  const root = new FieldReader(document, `${path}: `);
  const folder = dirname(resolve(path));
  return {
    path,
    currentContext: root.string("current-context"),
    clusters: entries(root, { list: "clusters", field: "cluster" }, (cluster) => parseCluster(cluster, folder)),
    users: entries(root, { list: "users", field: "user" }, (user) => parseUser(user, folder)),
    contexts: entries(root, { list: "contexts", field: "context" }, (context) => ({
      cluster: context.string("cluster"),
      user: context.string("user"),
      namespace: context.string("namespace"),
    })),
  };
}

function entries<T>(
  root: FieldReader,
  where: { readonly list: string; readonly field: string },
  parse: (entry: FieldReader) => T,
): Map<string, () => T> {
  const found = new Map<string, () => T>();
  for (const entry of root.children(where.list)) {
    const name = entry.string("name");
    if (name === undefined) throw new KubeConfigError(`${entry.location}.name is missing`);
    if (!found.has(name)) found.set(name, () => parse(entry.child(where.field)));
  }
  return found;
}

function parseCluster(cluster: FieldReader, folder: string): ClusterEntry {
  const server = cluster.string("server");
  if (server === undefined)
    throw new KubeConfigError(`${cluster.location}.server is missing: give the URL of the API server`);
  const certificateAuthority = pem(cluster, "certificate-authority", folder);
  const insecureSkipTlsVerify = cluster.boolean("insecure-skip-tls-verify");
  if (insecureSkipTlsVerify && certificateAuthority !== undefined)
    throw new KubeConfigError(
      `${cluster.location} has both insecure-skip-tls-verify and a certificate authority: remove one of them`,
    );
  return {
    server,
    certificateAuthority,
    insecureSkipTlsVerify,
    tlsServerName: cluster.string("tls-server-name"),
    proxyUrl: cluster.string("proxy-url"),
    execConfig: cluster
      .children("extensions")
      .find((extension) => extension.string("name") === "client.authentication.k8s.io/exec")
      ?.raw("extension"),
  };
}

function parseUser(user: FieldReader, folder: string): UserEntry {
  return {
    authentication: parseAuthentication(user, folder),
    clientCertificate: parseClientCertificate(user, folder),
    impersonate: parseImpersonation(user),
  };
}

function parseAuthentication(user: FieldReader, folder: string): Authentication {
  if (user.has("auth-provider")) {
    const provider = user.child("auth-provider").string("name") ?? "";
    throw new KubeConfigError(
      `${user.location}.auth-provider "${provider}" is not supported (Kubernetes removed these providers): use an exec credential plugin, a token or a client certificate`,
    );
  }
  const ways = ["tokenFile", "token", "username", "exec"].filter((way) => user.has(way));
  // Some tools write a token beside a tokenFile, as the file's last content; every other combination is a
  // contradiction.
  if (ways.length > 1 && ways.join() !== "tokenFile,token")
    throw new KubeConfigError(`${user.location} has ${ways.join(" and ")}: keep one way to authenticate`);
  const tokenFile = user.string("tokenFile");
  if (tokenFile !== undefined) return { type: "tokenFile", path: resolve(folder, tokenFile) };
  const token = user.string("token");
  if (token !== undefined) return { type: "token", token };
  const username = user.string("username");
  if (username !== undefined) return { type: "basic", username, password: user.string("password") ?? "" };
  if (user.has("exec")) return { type: "exec", plugin: parseExec(user.child("exec"), folder) };
  return { type: "none" };
}

function parseExec(exec: FieldReader, folder: string): ExecPlugin {
  const apiVersion = exec.string("apiVersion");
  if (apiVersion !== "client.authentication.k8s.io/v1" && apiVersion !== "client.authentication.k8s.io/v1beta1")
    throw new KubeConfigError(
      `${exec.location}.apiVersion "${apiVersion ?? ""}" is not supported: use client.authentication.k8s.io/v1 or v1beta1 (newer versions of the plugin support it)`,
    );
  const command = exec.string("command");
  if (command === undefined) throw new KubeConfigError(`${exec.location}.command is missing`);
  const mode =
    exec.string("interactiveMode") ??
    (apiVersion === "client.authentication.k8s.io/v1beta1" ? "IfAvailable" : undefined);
  if (mode !== "Never" && mode !== "IfAvailable" && mode !== "Always")
    throw new KubeConfigError(
      `${exec.location}.interactiveMode must be Never, IfAvailable or Always, not "${mode ?? ""}"`,
    );
  return {
    apiVersion,
    // As a shell would: a name is looked up in PATH, a path is relative to the kubeconfig.
    command: command.includes("/") && !isAbsolute(command) ? resolve(folder, command) : command,
    args: exec.strings("args"),
    env: Object.fromEntries(
      exec.children("env").map((entry) => [entry.string("name") ?? "", entry.string("value") ?? ""] as const),
    ),
    interactiveMode: mode,
    provideClusterInfo: exec.boolean("provideClusterInfo"),
    installHint: exec.string("installHint"),
    clusterConfig: undefined,
  };
}

function parseClientCertificate(user: FieldReader, folder: string): UserEntry["clientCertificate"] {
  const certificate = pem(user, "client-certificate", folder);
  const key = pem(user, "client-key", folder);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined)
    throw new KubeConfigError(
      `${user.location} has only one of client-certificate(-data) and client-key(-data): a client certificate needs both`,
    );
  return { certificate, key };
}

function parseImpersonation(user: FieldReader): Impersonation | undefined {
  const as = user.string("as");
  const groups = user.strings("as-groups");
  const uid = user.string("as-uid");
  const extra = user.child("as-user-extra");
  if (as === undefined) {
    if (groups.length > 0 || uid !== undefined || extra.names().length > 0)
      throw new KubeConfigError(`${user.location} impersonates groups, a uid or extra fields without a user: add "as"`);
    return undefined;
  }
  return { user: as, uid, groups, extra: Object.fromEntries(extra.names().map((name) => [name, extra.strings(name)])) };
}

/** `NAME-data` (base64 PEM) wins over the file `NAME`, as everywhere in Kubernetes. */
function pem(reader: FieldReader, name: string, folder: string): PemSource | undefined {
  const data = reader.string(`${name}-data`);
  if (data !== undefined) {
    const decoded = Buffer.from(data, "base64").toString("utf8");
    if (!decoded.includes("-----BEGIN"))
      throw new KubeConfigError(`${reader.location}.${name}-data is not base64 of a PEM block`);
    return { type: "inline", pem: decoded };
  }
  const path = reader.string(name);
  return path === undefined ? undefined : { type: "file", path: resolve(folder, path) };
}
