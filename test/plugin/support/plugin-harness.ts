// What the plugin's command tests share: a cluster with the operator at work, pods that have logs and ports, an instance and a
// class from the examples, a folder to write to, and a shell for what the plugin prints. Engines are made by the tests.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject } from "@firebolt-operator/kube";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import { exampleOf } from "../../harness/fixtures/manifests.ts";
import type { PluginResult } from "../../harness/programs/plugin-process.ts";
import { type PluginKubelet, startPluginKubelet } from "./kubelet.ts";
import { NAMESPACE, type PluginCluster, startPluginCluster } from "./plugin-cluster.ts";

export interface PluginHarness extends AsyncDisposable {
  readonly cluster: PluginCluster;
  readonly kubelet: PluginKubelet;
  readonly folder: string;
  engineOf(name: string): Promise<FireboltEngine>;
  /** Runs a script as a user would, with the real kubectl or whatever stands first in the path. */
  shell(script: string, path?: readonly string[]): Promise<PluginResult>;
}

const CONTAINERS = ["engine", "metadata", "envoy", "postgres", "log-agent"];
const SCRIPT_LIMIT_MS = 180_000;

export async function openPluginHarness(): Promise<PluginHarness> {
  const folder = mkdtempSync(join(tmpdir(), "plugin-"));
  const cluster = await startPluginCluster();
  const gateway = await startGateway();
  const address = gateway.address();
  const kubelet = await startPluginKubelet(cluster.controlPlane, {
    nodes: cluster.nodes,
    namespace: NAMESPACE,
    containers: CONTAINERS,
    forwardTo: typeof address === "object" && address !== null ? address.port : 0,
  });
  await cluster.client.create<KubeObject>(FireboltInstance, exampleOf("instance-minimal.yaml", "FireboltInstance"));
  await cluster.client.create<KubeObject>(
    FireboltEngineClass,
    exampleOf("engine-class-accelerator.yaml", "FireboltEngineClass"),
  );
  return {
    cluster,
    kubelet,
    folder,
    engineOf: (name) => cluster.client.get(FireboltEngine, { namespace: NAMESPACE, name }),
    shell: (script, path = []) => runScript(script, { folder, path: [...path, join(cluster.kubectl, "..")] }),
    async [Symbol.asyncDispose]() {
      await kubelet[Symbol.asyncDispose]();
      gateway.close();
      await cluster[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Statements that fail: how they begin, and what a gateway responds. What an engine responded has its time in it. */
const REFUSALS: readonly (readonly [string, number, Record<string, string>, string])[] = [
  ["SELEC ", 400, { "x-envoy-upstream-service-time": "3" }, '{"errors":[{"description":"syntax error"}]}'],
  ["DRAINED", 503, { "x-envoy-upstream-service-time": "3" }, "the engine is shutting down"],
  ["NOBODY", 503, {}, "engine is not available; retry shortly"],
];

/** Returns the requested engine and the statement. */
async function startGateway(): Promise<Server> {
  const gateway = createServer((request, response) => {
    let statement = "";
    request.on("data", (chunk: Buffer) => {
      statement += chunk;
    });
    request.on("end", () => {
      const refusal = REFUSALS.find(([begin]) => statement.startsWith(begin));
      if (refusal === undefined) response.end(`${request.headers["x-firebolt-engine"]}: ${statement}\n`);
      else response.writeHead(refusal[1], refusal[2]).end(refusal[3]);
    });
  }).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  return gateway;
}

interface ScriptOptions {
  readonly folder: string;
  /** Before the test's own. */
  readonly path: readonly string[];
}

export function runScript(script: string, { folder, path }: ScriptOptions): Promise<PluginResult> {
  const { promise, resolve } = Promise.withResolvers<PluginResult>();
  const env = { PATH: [...path, process.env["PATH"]].join(":"), HOME: folder };
  const child = execFile("sh", ["-eu"], { env, timeout: SCRIPT_LIMIT_MS }, (_, stdout, stderr) =>
    resolve({ code: child.exitCode, stdout, stderr }),
  );
  child.stdin?.end(script);
  return promise;
}
