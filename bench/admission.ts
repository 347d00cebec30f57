// Admission under a steady load: manifests at a fixed rate through a real API server that calls the webhooks for each
// of them. The webhook server runs in a process of its own, as the manager would; half of the engines name a class,
// which it has to look up, and every fifth manifest must be denied. The same rate straight at the webhook, without
// look-ups, shows what judging itself costs. Options: --rate N per second (200), --seconds N (20), --target-ms N for
// the p99 (10).
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type AgentOptions, request } from "node:https";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { parse } from "yaml";
import { startControlPlane } from "../dev/control-plane/control-plane.ts";
import type { Measured, Ready } from "./processes/admission.ts";

const NAMESPACE = "default";
const ROOT = `/apis/compute.firebolt.io/v1alpha1/namespaces/${NAMESPACE}`;
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1";
const WARM_UP = 200;
/**
 * Connections of the generator: as many as the clients of a busy cluster have, so that it does not spend its time on
 * handshakes.
 */
const CONNECTIONS = 64;
const DEADLINE_MS = 30_000;

interface LoadRequest {
  readonly path: string;
  readonly body: object;
  readonly want: number;
}

export async function run(args: readonly string[]): Promise<object> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: { type: "string", default: "200" },
      seconds: { type: "string", default: "20" },
      "target-ms": { type: "string", default: "10" },
    },
  });
  const [rate, seconds, targetMs] = [Number(values.rate), Number(values.seconds), Number(values["target-ms"])];
  await using plane = await startControlPlane({ progress, crds: join(import.meta.dirname, "../config/crd") });
  const api = openApiFromKubeconfig(plane.adminKubeconfig);
  using sender = openApiSender(plane.adminKubeconfig);
  const child = fork(join(import.meta.dirname, "processes/admission.ts"), [plane.adminKubeconfig], {
    stdio: "inherit",
  });
  try {
    const { configurations, base, ca } = await message<Ready>(child);
    await register(api, configurations);
    progress("warming up");
    await load(sender, WARM_UP, rate);
    child.send("reset");
    progress(`${rate} requests per second for ${seconds} s`);
    const [loadBefore = 0] = loadavg();
    const serverPid = plane.processes["kube-apiserver"] ?? 0;
    const [ownCpu, serverCpuMs] = [process.cpuUsage(), cpuMsOf(serverPid)];
    const { latencies, failures, wallMs } = await load(sender, rate * seconds, rate);
    const measured = message<Measured>(child);
    child.send("report");
    const { latencies: own, lookups, cpuMs, rssBytes } = await measured;
    const webhook = percentiles(own);
    progress("the same rate straight at the webhook");
    using direct = openSender(base, { ca });
    const straight = await load(direct, rate * seconds, rate, directRequest);
    failures.push(...straight.failures);
    const result = {
      /** Of the whole machine: figures from a busy one mean little. */
      loadAverageBefore: Number(loadBefore.toFixed(2)),
      requests: latencies.length,
      wallMs: Math.round(wallMs),
      achievedRate: Number(((latencies.length * 1000) / wallMs).toFixed(1)),
      failures: failures.length,
      endToEndMs: percentiles(latencies),
      webhookRequests: own.length,
      webhookMs: webhook,
      lookups: lookups.length,
      lookupMs: percentiles(lookups),
      directMs: percentiles(straight.latencies),
      webhookCpuMs: Math.round(cpuMs),
      apiServerCpuMs: Math.round(cpuMsOf(serverPid) - serverCpuMs),
      loadGeneratorCpuMs: Math.round((process.cpuUsage(ownCpu).user + process.cpuUsage(ownCpu).system) / 1000),
      webhookRssBytes: rssBytes,
      targetP99Ms: targetMs,
      withinTarget: webhook.p99 <= targetMs && failures.length === 0,
    };
    for (const failure of failures.slice(0, 5)) progress(failure);
    return result;
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
    api.close();
  }
}

/** Resources used by a process so far. Linux counts in hundredths of a second. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const progress = (line: string): void => console.error(`admission: ${line}`);

async function message<T>(child: ChildProcess): Promise<T> {
  const [value] = await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`the webhook process exited with ${code}`))),
  ]);
  return value as T;
}

async function register(api: Api, configurations: Ready["configurations"]): Promise<void> {
  for (const [type, body] of Object.entries(configurations))
    await api.expect({ method: "POST", path: `${CONFIGURATIONS}/${type}webhookconfigurations`, body });
  const probe = manifestRequest(4);
  const deadline = performance.now() + 20_000;
  // The API server observes a registration through a watch.
  while ((await api.send({ method: "POST", ...probe })).status !== 403) {
    if (performance.now() > deadline) throw new Error("the webhooks were never called");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const path = `${ROOT}/fireboltengineclasses`;
  await api.expect({ method: "POST", path, body: object("FireboltEngineClass", "shared", { template: TEMPLATE }) });
}

interface Sender extends Disposable {
  /** Status and message; rejects when there is no response in time. */
  send(request: LoadRequest): Promise<{ readonly status: number; readonly text: string }>;
}

function openApiSender(kubeconfig: string): Sender {
  const config: unknown = parse(readFileSync(kubeconfig, "utf8"));
  const decoded = (path: readonly (string | number)[]) => Buffer.from(String(valueAt(config, path)), "base64");
  return openSender(String(valueAt(config, ["clusters", 0, "cluster", "server"])), {
    ca: decoded(["clusters", 0, "cluster", "certificate-authority-data"]),
    cert: decoded(["users", 0, "user", "client-certificate-data"]),
    key: decoded(["users", 0, "user", "client-key-data"]),
  });
}

/** Limits the number of connections; further requests wait. */
function openSender(server: string, credentials: AgentOptions): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ...credentials });
  return {
    send: ({ path, body }) =>
      new Promise((resolve, reject) => {
        const outgoing = request(`${server}${path}`, {
          agent,
          method: "POST",
          headers: { "content-type": "application/json" },
          signal: AbortSignal.timeout(DEADLINE_MS),
        });
        outgoing.once("error", reject);
        outgoing.once("response", (incoming) => {
          let text = "";
          incoming.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          incoming.once("error", reject);
          incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, text }));
        });
        outgoing.end(JSON.stringify(body));
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** Sends at a fixed rate, however long responses take, and measures from the time at which a request was due. */
async function load(sender: Sender, requests: number, rate: number, make = manifestRequest) {
  const latencies: number[] = [];
  const failures: string[] = [];
  const startedMs = performance.now();
  const pending: Promise<void>[] = [];
  const sendAt = async (request: LoadRequest, dueMs: number): Promise<void> => {
    try {
      const { status, text } = await sender.send(request);
      if (status !== request.want) failures.push(`${status} instead of ${request.want}: ${text.slice(0, 300)}`);
    } catch (error) {
      failures.push(String(error));
    }
    latencies.push(performance.now() - dueMs);
  };
  for (let index = 0; index < requests; index++) {
    const dueMs = startedMs + (index * 1000) / rate;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    pending.push(sendAt(make(index), dueMs));
  }
  await Promise.all(pending);
  return { latencies, failures, wallMs: performance.now() - startedMs };
}

const TEMPLATE = {
  metadata: { labels: { team: "data" } },
  spec: {
    nodeSelector: { pool: "engines" },
    tolerations: [{ key: "engines", operator: "Exists" }],
    containers: [
      {
        name: "engine",
        env: [{ name: "AWS_REGION", value: "eu-central-1" }],
        resources: { requests: { cpu: "4", memory: "16Gi" }, limits: { memory: "16Gi" } },
      },
      { name: "log-agent", image: "registry.example.com/log-agent:1.4" },
    ],
  },
};

const object = (kind: string, name: string, spec: object): object => ({
  apiVersion: "compute.firebolt.io/v1alpha1",
  kind,
  metadata: { name, namespace: NAMESPACE },
  spec,
});

/**
 * Two engines with a class, one without, one instance, and one engine that must be denied, in turn. Dry runs: nothing
 * is stored.
 */
function manifestRequest(index: number): LoadRequest {
  const path = `${ROOT}/fireboltengines?dryRun=All`;
  const spec = { instanceRef: "lakeside", replicas: 2, template: TEMPLATE };
  const name = `e${index}`;
  switch (index % 5) {
    case 0:
    case 1:
      return { path, body: object("FireboltEngine", name, { ...spec, engineClassRef: "shared" }), want: 201 };
    case 2:
      return { path, body: object("FireboltEngine", name, spec), want: 201 };
    case 3: {
      const instances = `${ROOT}/fireboltinstances?dryRun=All`;
      return { path: instances, body: object("FireboltInstance", name, { metadata: {}, gateway: {} }), want: 201 };
    }
    default: {
      const template = { ...TEMPLATE, spec: { ...TEMPLATE.spec, hostNetwork: true } };
      return { path, body: object("FireboltEngine", name, { ...spec, template }), want: 403 };
    }
  }
}

/** The review of an engine without class, as the API server sends it. */
function directRequest(index: number): LoadRequest {
  const engine = object("FireboltEngine", `e${index}`, { instanceRef: "lakeside", replicas: 2, template: TEMPLATE });
  const kind = { group: "compute.firebolt.io", version: "v1alpha1", kind: "FireboltEngine" };
  const request = {
    uid: `u${index}`,
    kind,
    operation: "CREATE",
    namespace: NAMESPACE,
    name: `e${index}`,
    object: engine,
  };
  const path = "/validate-compute-firebolt-io-v1alpha1-fireboltengine?timeout=10s";
  return { path, body: { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request }, want: 200 };
}

function percentiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) =>
    Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(2));
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
