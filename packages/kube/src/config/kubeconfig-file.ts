// One kubeconfig file as typed entries: clusters, users and contexts by name, with relative paths made absolute.
// It neither chooses a context nor reads the files that entries name.
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
  /** The extension that exec plugins get. */
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

/** Entries are parsed when chosen: a broken user that no context in use names must not stop the operator. */
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
    currentContext: root.text("current-context"),
    clusters: entries(root, { list: "clusters", field: "cluster" }, (cluster) => parseCluster(cluster, folder)),
    users: entries(root, { list: "users", field: "user" }, (user) => parseUser(user, folder)),
    contexts: entries(root, { list: "contexts", field: "context" }, (context) => ({
      cluster: context.text("cluster"),
      user: context.text("user"),
      namespace: context.text("namespace"),
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
    const name = entry.text("name");
    if (name === undefined) throw new KubeConfigError(`${entry.place}.name is missing`);
    if (!found.has(name)) found.set(name, () => parse(entry.child(where.field)));
  }
  return found;
}

function parseCluster(cluster: FieldReader, folder: string): ClusterEntry {
  const server = cluster.text("server");
  if (server === undefined)
    throw new KubeConfigError(`${cluster.place}.server is missing: give the URL of the API server`);
  const certificateAuthority = pem(cluster, "certificate-authority", folder);
  const insecureSkipTlsVerify = cluster.flag("insecure-skip-tls-verify");
  if (insecureSkipTlsVerify && certificateAuthority !== undefined)
    throw new KubeConfigError(
      `${cluster.place} has both insecure-skip-tls-verify and a certificate authority: remove one of them`,
    );
  return {
    server,
    certificateAuthority,
    insecureSkipTlsVerify,
    tlsServerName: cluster.text("tls-server-name"),
    proxyUrl: cluster.text("proxy-url"),
    execConfig: cluster
      .children("extensions")
      .find((extension) => extension.text("name") === "client.authentication.k8s.io/exec")
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
    const provider = user.child("auth-provider").text("name") ?? "";
    throw new KubeConfigError(
      `${user.place}.auth-provider "${provider}" is not supported (Kubernetes removed these providers): use an exec credential plugin, a token or a client certificate`,
    );
  }
  const ways = ["tokenFile", "token", "username", "exec"].filter((way) => user.has(way));
  // A token beside a tokenFile is the file's last content as some tools write it; every other pair is a contradiction.
  if (ways.length > 1 && ways.join() !== "tokenFile,token")
    throw new KubeConfigError(`${user.place} has ${ways.join(" and ")}: keep one way to authenticate`);
  const tokenFile = user.text("tokenFile");
  if (tokenFile !== undefined) return { type: "tokenFile", path: resolve(folder, tokenFile) };
  const token = user.text("token");
  if (token !== undefined) return { type: "token", token };
  const username = user.text("username");
  if (username !== undefined) return { type: "basic", username, password: user.text("password") ?? "" };
  if (user.has("exec")) return { type: "exec", plugin: parseExec(user.child("exec"), folder) };
  return { type: "none" };
}

function parseExec(exec: FieldReader, folder: string): ExecPlugin {
  const apiVersion = exec.text("apiVersion");
  if (apiVersion !== "client.authentication.k8s.io/v1" && apiVersion !== "client.authentication.k8s.io/v1beta1")
    throw new KubeConfigError(
      `${exec.place}.apiVersion "${apiVersion ?? ""}" is not supported: use client.authentication.k8s.io/v1 or v1beta1 (newer versions of the plugin speak it)`,
    );
  const command = exec.text("command");
  if (command === undefined) throw new KubeConfigError(`${exec.place}.command is missing`);
  const mode =
    exec.text("interactiveMode") ?? (apiVersion === "client.authentication.k8s.io/v1beta1" ? "IfAvailable" : undefined);
  if (mode !== "Never" && mode !== "IfAvailable" && mode !== "Always")
    throw new KubeConfigError(
      `${exec.place}.interactiveMode must be Never, IfAvailable or Always, not "${mode ?? ""}"`,
    );
  return {
    apiVersion,
    // As a shell would: a name is looked up in PATH, a path is relative to the file that says it.
    command: command.includes("/") && !isAbsolute(command) ? resolve(folder, command) : command,
    args: exec.texts("args"),
    env: Object.fromEntries(
      exec.children("env").map((entry) => [entry.text("name") ?? "", entry.text("value") ?? ""] as const),
    ),
    interactiveMode: mode,
    provideClusterInfo: exec.flag("provideClusterInfo"),
    installHint: exec.text("installHint"),
    clusterConfig: undefined,
  };
}

function parseClientCertificate(user: FieldReader, folder: string): UserEntry["clientCertificate"] {
  const certificate = pem(user, "client-certificate", folder);
  const key = pem(user, "client-key", folder);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined)
    throw new KubeConfigError(
      `${user.place} has only one of client-certificate(-data) and client-key(-data): a client certificate needs both`,
    );
  return { certificate, key };
}

function parseImpersonation(user: FieldReader): Impersonation | undefined {
  const as = user.text("as");
  const groups = user.texts("as-groups");
  const uid = user.text("as-uid");
  const extra = user.child("as-user-extra");
  if (as === undefined) {
    if (groups.length > 0 || uid !== undefined || extra.names().length > 0)
      throw new KubeConfigError(`${user.place} impersonates groups, a uid or extra fields without a user: add "as"`);
    return undefined;
  }
  return { user: as, uid, groups, extra: Object.fromEntries(extra.names().map((name) => [name, extra.texts(name)])) };
}

/** `NAME-data` (base64 PEM) wins over the file `NAME`, as everywhere in Kubernetes. */
function pem(reader: FieldReader, name: string, folder: string): PemSource | undefined {
  const data = reader.text(`${name}-data`);
  if (data !== undefined) {
    const decoded = Buffer.from(data, "base64").toString("utf8");
    if (!decoded.includes("-----BEGIN"))
      throw new KubeConfigError(`${reader.place}.${name}-data is not base64 of a PEM block`);
    return { type: "inline", pem: decoded };
  }
  const path = reader.text(name);
  return path === undefined ? undefined : { type: "file", path: resolve(folder, path) };
}
