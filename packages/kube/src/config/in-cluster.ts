// The configuration of the cluster this pod runs in: two environment variables and the service account folder. The
// token and the CA are named as files and read on use, because the kubelet rotates them.
import { join } from "node:path";
import { KubeConfigError } from "../core/errors.ts";
import type { ClusterConfig } from "./cluster-config.ts";

export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => string;
  readonly folder?: string | undefined;
}

const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Undefined outside a cluster. Throws if the pod has no service account token. */
export function inClusterConfig(options: InClusterOptions): ClusterConfig | undefined {
  const { env, readFile, folder = SERVICE_ACCOUNT_FOLDER } = options;
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port) return undefined;
  const read = (name: string): string => {
    const path = join(folder, name);
    try {
      return readFile(path).trim();
    } catch (cause) {
      throw new KubeConfigError(
        `KUBERNETES_SERVICE_HOST is set, so this is a pod, but ${path} cannot be read: give the pod a service account with automountServiceAccountToken, or pass a kubeconfig`,
        { cause },
      );
    }
  };
  read("token");
  return {
    origin: `service account in ${folder}`,
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: read("namespace") || undefined,
    certificateAuthority: { type: "file", path: join(folder, "ca.crt") },
    authentication: { type: "tokenFile", path: join(folder, "token") },
  };
}
