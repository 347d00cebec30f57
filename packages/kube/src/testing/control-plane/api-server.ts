// kube-apiserver of one control plane: its files, its flags, and its restart on the same port.
import { type Authority, createSigningKey } from "../authority.ts";
import { type Api, openApi } from "./api-request.ts";
import { withFreePorts } from "./ports.ts";
import { type ManagedProcess, startProcess } from "./process.ts";
import type { Workspace } from "./workspace.ts";

const READY_DEADLINE_MS = 120_000;
const SERVICE_RANGE = "10.96.0.0/16";
const FIRST_SERVICE_ADDRESS = "10.96.0.1";

export interface ApiServerOptions {
  readonly workspace: Workspace;
  readonly authority: Authority;
  readonly binary: string;
  readonly etcdUrl: string;
  readonly extraArgs: readonly string[];
}

export interface ApiServer {
  readonly url: string;
  /** The API as cluster administrator. */
  readonly admin: Api;
  readonly process: () => ManagedProcess;
  /** Starts it again after it was stopped. */
  restart(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const files = writeFiles(options);
  const administrator = options.authority.issue({
    commonName: "control-plane",
    organizations: ["system:masters"],
    usages: ["client"],
  });
  return withFreePorts(1, async ([port = 0]) => {
    const url = `https://127.0.0.1:${port}`;
    const admin = openApi({ url, ca: options.authority.certificate, ...administrator });
    const start = async () => {
      const started = startProcess(options.workspace, {
        name: "kube-apiserver",
        binary: options.binary,
        args: [...renderArgs(options.etcdUrl, port, files), ...options.extraArgs],
      });
      await started.waitUntilReady(
        async (signal) => (await admin.send({ path: "/readyz", signal })).status === 200,
        READY_DEADLINE_MS,
      );
      return started;
    };
    let running = await start();
    return {
      url,
      admin,
      process: () => running,
      async restart() {
        if (running.ending() === undefined) throw new Error("kube-apiserver is still running");
        running = await start();
      },
    };
  });
}

type Files = Readonly<Record<"ca" | "certificate" | "key" | "tokenKey" | "tokenPublicKey", string>>;

function writeFiles({ workspace, authority }: ApiServerOptions): Files {
  // One certificate for serving, for etcd and for kubelets: only the owner can read the folder.
  const pair = authority.issue({
    commonName: "kube-apiserver",
    organizations: ["system:masters"],
    usages: ["server", "client"],
    hosts: [
      "127.0.0.1",
      FIRST_SERVICE_ADDRESS,
      "localhost",
      "kubernetes",
      "kubernetes.default",
      "kubernetes.default.svc",
      "kubernetes.default.svc.cluster.local",
    ],
  });
  const tokens = createSigningKey();
  return {
    ca: workspace.write("ca.crt", authority.certificate),
    certificate: workspace.write("kube-apiserver.crt", pair.certificate),
    key: workspace.write("kube-apiserver.key", pair.key),
    tokenKey: workspace.write("service-account.key", tokens.privateKey),
    tokenPublicKey: workspace.write("service-account.pub", tokens.publicKey),
  };
}

function renderArgs(etcdUrl: string, port: number, files: Files): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--etcd-cafile=${files.ca}`,
    `--etcd-certfile=${files.certificate}`,
    `--etcd-keyfile=${files.key}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    // A loopback address must not be published as the endpoint of the `kubernetes` Service, so no endpoint is
    // published. The explicit address also works on a machine without any route.
    "--advertise-address=127.0.0.1",
    "--endpoint-reconciler-type=none",
    `--tls-cert-file=${files.certificate}`,
    `--tls-private-key-file=${files.key}`,
    `--client-ca-file=${files.ca}`,
    `--kubelet-certificate-authority=${files.ca}`,
    `--kubelet-client-certificate=${files.certificate}`,
    `--kubelet-client-key=${files.key}`,
    "--kubelet-preferred-address-types=InternalIP",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${files.tokenPublicKey}`,
    `--service-account-signing-key-file=${files.tokenKey}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    "--authorization-mode=Node,RBAC",
    "--allow-privileged=true",
    "--profiling=false",
  ];
}
