// Which cluster is selected, how a kubeconfig is interpreted, and the message if it is unusable.
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { KubeConfigError } from "../core/errors.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { type KubeconfigOptions, loadKubeconfig } from "./kubeconfig.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly current?: string | null;
}

/** A file with one cluster, user and context of the same name. */
function kubeconfig(name: string, parts: Parts = {}): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    ...(parts.current !== null && { "current-context": parts.current ?? name }),
    clusters: [{ name, cluster: { server: `https://${name}:6443`, ...parts.cluster } }],
    users: [{ name, user: { token: `token-of-${name}`, ...parts.user } }],
    contexts: [{ name, context: { cluster: name, user: name, ...parts.context } }],
  });
}

function load(
  files: Readonly<Record<string, string>>,
  options: Partial<KubeconfigOptions> = {},
): Promise<ClusterConfig> {
  return loadKubeconfig({
    env: {},
    homeDir: "/home/me",
    readFile(path) {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
      return text;
    },
    ...options,
  });
}

const inPod = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
const podFiles = { "/sa/token": "t\n", "/sa/namespace": "pod-ns\n", "/sa/ca.crt": PEM };
const everywhere = {
  "/flag": kubeconfig("flag"),
  "/env": kubeconfig("env"),
  "/home/me/.kube/config": kubeconfig("home"),
  ...podFiles,
};

test.each([
  { name: "the explicit file first", path: "/flag", env: { KUBECONFIG: "/env", ...inPod }, want: "https://flag:6443" },
  { name: "then KUBECONFIG", env: { KUBECONFIG: "/env", ...inPod }, want: "https://env:6443" },
  { name: "then the pod's own cluster", env: inPod, want: "https://10.0.0.1:443" },
  { name: "then the home folder", env: {}, want: "https://home:6443" },
])("$name", async ({ path, env, want }) => {
  const config = await load(everywhere, { path, env, serviceAccountFolder: "/sa" });
  expect(config.server).toBe(want);
});

test("a pod's token and CA stay files, its namespace is known, IPv6 is bracketed", async () => {
  const env = { ...inPod, KUBERNETES_SERVICE_HOST: "fd00::1" };
  expect(await load(podFiles, { env, serviceAccountFolder: "/sa" })).toEqual({
    origin: "service account in /sa",
    server: "https://[fd00::1]:443",
    namespace: "pod-ns",
    certificateAuthority: { type: "file", path: "/sa/ca.crt" },
    authentication: { type: "tokenFile", path: "/sa/token" },
  });
});

test("KUBECONFIG files are merged, the first entry of a name wins, missing files are skipped", async () => {
  const files = {
    "/a": kubeconfig("a", { current: null }),
    "/b": stringify({
      "current-context": "b",
      clusters: [{ name: "a", cluster: { server: "https://other" } }],
      contexts: [{ name: "b", context: { cluster: "a", user: "a", namespace: "from-b" } }],
    }),
  };
  const config = await load(files, { env: { KUBECONFIG: "/missing:/a:/b" } });
  expect(config).toMatchObject({
    server: "https://a:6443",
    namespace: "from-b",
    authentication: { type: "token", token: "token-of-a" },
  });
});

test("certificates: data wins over files, files are relative to the kubeconfig", async () => {
  const text = kubeconfig("x", {
    cluster: { "certificate-authority": "ca.pem", "certificate-authority-data": base64(PEM), "tls-server-name": "api" },
    user: { token: "", "client-certificate": "me.crt", "client-key": "/abs/me.key", as: "jane", "as-groups": ["dev"] },
  });
  expect(await load({ "/etc/k/config": text }, { path: "/etc/k/config" })).toMatchObject({
    certificateAuthority: { type: "inline", pem: PEM },
    clientCertificate: {
      certificate: { type: "file", path: "/etc/k/me.crt" },
      key: { type: "file", path: "/abs/me.key" },
    },
    tlsServerName: "api",
    authentication: { type: "none" },
    impersonate: { user: "jane", groups: ["dev"], uid: undefined, extra: {} },
  });
});

test("an exec plugin with its environment and the cluster's extension", async () => {
  const text = kubeconfig("x", {
    cluster: { extensions: [{ name: "client.authentication.k8s.io/exec", extension: { audience: "a" } }] },
    user: {
      token: null,
      exec: {
        apiVersion: "client.authentication.k8s.io/v1",
        command: "./bin/login",
        args: ["--x"],
        env: [{ name: "A", value: "1" }],
        interactiveMode: "Never",
        provideClusterInfo: true,
      },
    },
  });
  const config = await load({ "/k/config": text }, { path: "/k/config" });
  expect(config.authentication).toEqual({
    type: "exec",
    plugin: {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "/k/bin/login",
      args: ["--x"],
      env: { A: "1" },
      interactiveMode: "Never",
      provideClusterInfo: true,
      installHint: undefined,
      clusterConfig: { audience: "a" },
    },
  });
});

test("only the cluster's own proxy is used, not the environment's", async () => {
  const env = { HTTPS_PROXY: "http://proxy:3128" };
  expect((await load({ "/k": kubeconfig("x") }, { path: "/k", env })).proxyUrl).toBeUndefined();
  const own = kubeconfig("x", { cluster: { "proxy-url": "http://own:1" } });
  expect((await load({ "/k": own }, { path: "/k", env })).proxyUrl).toBe("http://own:1");
});

const exec = (more: object): object => ({ token: null, exec: { command: "c", ...more } });

test.each([
  { name: "unknown context", context: "prod", want: '/k: context "prod" not found; contexts available: x' },
  {
    name: "no current context",
    parts: { current: null },
    want: "/k: current-context is not set; contexts available: x",
  },
  {
    name: "unknown cluster",
    parts: { context: { cluster: "y" } },
    want: 'cluster "y" not found; clusters available: x',
  },
  { name: "unknown user", parts: { context: { user: "y" } }, want: 'user "y" not found; users available: x' },
  {
    name: "wrong type",
    parts: { cluster: { server: 5 } },
    want: "/k: clusters[0].cluster.server must be a string, not 5",
  },
  { name: "no server", parts: { cluster: { server: "" } }, want: "/k: clusters[0].cluster.server is missing" },
  {
    name: "bad data",
    parts: { cluster: { "certificate-authority-data": "AAAA" } },
    want: "certificate-authority-data is not base64 of a PEM",
  },
  {
    name: "an authority that is not used",
    parts: { cluster: { "certificate-authority": "a", "insecure-skip-tls-verify": true } },
    want: "remove one of them",
  },
  { name: "half a certificate", parts: { user: { "client-key": "k" } }, want: "a client certificate needs both" },
  { name: "two ways in", parts: { user: { username: "u" } }, want: "users[0].user has token and username: keep one" },
  {
    name: "auth-provider",
    parts: { user: { "auth-provider": { name: "gcp" } } },
    want: 'auth-provider "gcp" is not supported',
  },
  { name: "groups without a user", parts: { user: { "as-groups": ["g"] } }, want: 'without a user: add "as"' },
  {
    name: "old exec",
    parts: { user: exec({ apiVersion: "client.authentication.k8s.io/v1alpha1" }) },
    want: 'v1alpha1" is not supported',
  },
  {
    name: "no interactiveMode",
    parts: { user: exec({ apiVersion: "client.authentication.k8s.io/v1" }) },
    want: "interactiveMode must be Never, IfAvailable or Always",
  },
] satisfies { name: string; context?: string; parts?: Parts; want: string }[])("refuses: $name", async (row) => {
  const loading = load({ "/k": kubeconfig("x", row.parts) }, { path: "/k", context: row.context });
  await expect(loading).rejects.toThrow(row.want);
  await expect(loading).rejects.toThrow(KubeConfigError);
});

test.each([
  { name: "a missing file", path: "/nope", env: {}, want: "kubeconfig /nope cannot be read" },
  {
    name: "a KUBECONFIG without existing files",
    env: { KUBECONFIG: "/a:/b" },
    want: "KUBECONFIG names /a, /b, which do not exist",
  },
  { name: "a pod without a token", env: inPod, want: "automountServiceAccountToken" },
  { name: "nothing at all", env: {}, want: "no cluster configuration" },
])("says what to do about $name", async ({ path, env, want }) => {
  await expect(load({}, { path, env })).rejects.toThrow(want);
});

test("broken YAML names the file and the line", async () => {
  await expect(load({ "/k": "a: [1" }, { path: "/k" })).rejects.toThrow(/kubeconfig \/k is not YAML: .*line 1/);
});

test("a broken entry that the context does not use is ignored", async () => {
  const text = `${kubeconfig("x")}`.replace(
    "users:",
    "users:\n  - name: old\n    user: { auth-provider: { name: gcp } }",
  );
  expect((await load({ "/k": text }, { path: "/k" })).server).toBe("https://x:6443");
});
