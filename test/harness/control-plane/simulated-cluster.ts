// The simulated cluster of the run as a test file sees it. Files use it one after the other, each in namespaces of its own: what earlier files left
// in theirs is still there, so operators are told which namespaces are theirs. A test that needs every namespace, or that stops servers, starts a
// control plane of its own.
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { createKubeClient, type KubeClient } from "@firebolt-operator/kube/client";
import { inject } from "vitest";
import { type MetricsServer, startMetricsServer } from "../pods/engine-metrics-server.ts";
import { requestsInAuditLog } from "./audit-log.ts";
import type { SimulatedClusterAccess } from "./simulated-cluster-server.ts";
import { clusterConfig } from "./test-client.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The socket of simulated-cluster-server.ts. */
    simulatedCluster: string;
  }
}

export interface SimulatedCluster extends AsyncDisposable {
  readonly url: string;
  /** The administrator's. */
  readonly kubeconfig: string;
  readonly client: KubeClient;
  /** What pods say about their queries. */
  readonly metrics: MetricsServer;
  readonly nodes: readonly string[];
  /** Path of a kubeconfig with a token of this service account, which is created if it does not exist. */
  serviceAccountKubeconfig(namespace: string, name: string): Promise<string>;
  /** What this service account has requested so far, as `verb resource/name`; watches aside. */
  requestsOf(namespace: string, serviceAccount: string): readonly string[];
}

export async function openSimulatedCluster(): Promise<SimulatedCluster> {
  const { url, adminKubeconfig, nodes, auditLog } = (await ask("/")) as SimulatedClusterAccess;
  const metrics = await startMetricsServer();
  const client = createKubeClient({ config: await clusterConfig(adminKubeconfig), maxSockets: 64 });
  return {
    url,
    kubeconfig: adminKubeconfig,
    client,
    metrics,
    nodes,
    async serviceAccountKubeconfig(namespace, name) {
      const { kubeconfig } = (await ask(`/accounts/${namespace}/${name}`)) as { readonly kubeconfig: string };
      return kubeconfig;
    },
    requestsOf: (namespace, name) => requestsInAuditLog(auditLog, `system:serviceaccount:${namespace}:${name}`),
    async [Symbol.asyncDispose]() {
      client.close();
      await metrics[Symbol.asyncDispose]();
    },
  };
}

async function ask(path: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const socketPath = inject("simulatedCluster");
  request({ socketPath, path, agent: false }, (response) => {
    text(response).then((body) => {
      if (response.statusCode === 200) resolve(JSON.parse(body));
      else reject(new Error(`the simulated cluster: ${body}`));
    }, reject);
  })
    .once("error", reject)
    .end();
  return promise;
}
