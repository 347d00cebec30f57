// The harness of the wake benchmark: a control plane with simulated nodes, the engine operator, two gateways (one that
// holds, one that does not), the agent from the bundled program, and a counter of the API requests of each.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineResource, type KubeObject, silentLogger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import { createKubeClient, type KubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import { openWorkspace } from "@firebolt-operator/kube/testing";
import { startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../dev/control-plane/nodes.ts";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { ANNOTATION } from "../../src/api/labels.ts";
import { wakeAgentRules } from "../../src/gateway/wake-container.ts";
import { eventually } from "../../test/harness/control-plane/requests.ts";
import { GatewayClient } from "../../test/harness/envoy/gateway-client.ts";
import { buildEngineOperator } from "../../test/harness/operator/engine-operator.ts";
import { startMetricsServer } from "../../test/harness/pods/engine-metrics-server.ts";
import { openAuditLog } from "../../test/wake/support/audit.ts";
import { startNamespaceDns } from "../../test/wake/support/dns.ts";
import { startWakeGateway } from "../../test/wake/support/gateway.ts";

const ROOT = join(import.meta.dirname, "../..");
const NAMESPACE = "wake-bench";
const ACCOUNT = "main-gateway";
const HOLD_MS = 120_000;
/** A gateway opens a connection per query: to one address it would run out of ports within seconds. */
const RUNNING_REPLICAS = 16;
const AUTO_STOP = { enabled: true, activeReplicas: 1, idleTimeout: "30m" };
const RBAC = "rbac.authorization.k8s.io";

const resource = (group: string, kind: string, plural: string, namespaced = true) =>
  defineResource<KubeObject & Record<string, unknown>>({ group, version: "v1", kind, plural, namespaced });

export interface WakeBench extends AsyncDisposable {
  readonly plainPort: number;
  readonly wakePort: number;
  createStopped(names: readonly string[]): Promise<void>;
  createRunning(name: string): Promise<void>;
  /** This many queries at once; every one must succeed. */
  query(
    engine: string,
    count: number,
  ): Promise<{ readonly sent: number; readonly failed: number; readonly holdMs: readonly number[] }>;
  /** Requests to the API server so far, watches aside. */
  counts(): { readonly agent: number; readonly operator: number };
  /** Number of different wake requests on this engine. */
  stamps(engine: string): number;
  /** Anonymous memory of the process, and resident memory including the shared pages of Node. */
  agentMemory(): { readonly rssMb: number; readonly anonymousMb: number; readonly peakRssMb: number };
  /** Processor time used so far, in milliseconds. */
  cpuMs(who: "agent" | "plain" | "wake"): number;
}

export async function openWakeBench(progress: (line: string) => void): Promise<WakeBench> {
  await using stack = new AsyncDisposableStack();
  execFileSync(process.execPath, ["scripts/build.ts"], { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
  stack.use(await startMetricsServer());
  const audit = stack.use(openAuditLog());
  const plane = stack.use(
    await startControlPlane({
      components: ["kube-controller-manager", "kube-scheduler", "kwok"],
      crds: join(ROOT, "config/crd"),
      apiServerArgs: audit.apiServerArgs,
      progress,
    }),
  );
  await addNodes(plane.adminKubeconfig, { count: 4 });
  const load = (path: string) => loadKubeconfig({ path, env: {}, homeDir: "/nonexistent" });
  const client = createKubeClient({ config: await load(plane.adminKubeconfig), maxSockets: 64 });
  stack.defer(() => client.close());
  await client.create(resource("", "Namespace", "namespaces", false), { metadata: { name: NAMESPACE } });
  const kubeconfig = await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT);
  const metadata = { namespace: NAMESPACE, name: ACCOUNT };
  await client.create(resource(RBAC, "Role", "roles"), { metadata, rules: wakeAgentRules() });
  await client.create(resource(RBAC, "RoleBinding", "rolebindings"), {
    metadata,
    subjects: [{ kind: "ServiceAccount", ...metadata }],
    roleRef: { apiGroup: RBAC, kind: "Role", name: ACCOUNT },
  });
  await createInstance(client);

  const operator = await buildEngineOperator({
    config: await load(plane.adminKubeconfig),
    namespaces: [NAMESPACE],
    logger: silentLogger,
  });
  const stop = new AbortController();
  const running = operator.manager.run(stop.signal);
  stack.defer(async () => {
    stop.abort();
    await running;
    operator.close();
  });
  await operator.synced(stop.signal);

  const engines = createObjectCache({ client, type: FireboltEngine, logger: silentLogger, namespaces: [NAMESPACE] });
  const stampsOf = new Map<string, Set<string>>();
  engines.onEvent(({ object }) => {
    const stamp = object.metadata?.annotations?.[ANNOTATION.wakeRequested];
    const name = object.metadata?.name ?? "";
    if (stamp !== undefined) stampsOf.set(name, (stampsOf.get(name) ?? new Set()).add(stamp));
  });
  const watching = engines.run(stop.signal);
  stack.defer(() => {
    stop.abort();
    return watching;
  });

  const dns = stack.use(await startNamespaceDns(client, NAMESPACE));
  const engine = spawn(process.execPath, [join(import.meta.dirname, "wake-engine.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  stack.defer(() => ended(engine));
  await once(engine.stdout, "data");

  const workspace = openWorkspace("wake-bench-");
  stack.defer(() => workspace.close());
  const shared = { workspace, namespace: NAMESPACE, kubeconfig, dns: dns.server, concurrency: 1 };
  const plain = await startWakeGateway({ ...shared, name: "plain", wake: false });
  const wake = await startWakeGateway({
    ...shared,
    name: "wake",
    agentProgram: [process.execPath, join(ROOT, "dist/firebolt-operator.mjs"), "wake-agent"],
    agentFlags: ["--zap-log-level=info"],
  });

  const waitFor = (name: string, phase: string): Promise<unknown> =>
    eventually(
      () => {
        const { status } = engines.get({ namespace: NAMESPACE, name }) ?? {};
        return status?.phase === phase && status.autoStopReason !== undefined;
      },
      { timeoutMs: 120_000, describe: `${name} is ${phase}` },
    );
  const create = async (name: string, replicas: number): Promise<void> => {
    const spec = { instanceRef: "main", replicas, autoStop: AUTO_STOP };
    await client.create(FireboltEngine, { metadata: { namespace: NAMESPACE, name }, spec } as FireboltEngine);
    await waitFor(name, replicas === 0 ? "stopped" : "stable");
  };
  const kept = stack.move();
  return {
    plainPort: plain.clientPort,
    wakePort: wake.clientPort,
    async createStopped(names) {
      await Promise.all(names.map((name) => create(name, 0)));
    },
    createRunning: (name) => create(name, RUNNING_REPLICAS),
    async query(name, count) {
      const through = new GatewayClient(wake.clientPort);
      const began = performance.now();
      const results = await Promise.allSettled(
        Array.from({ length: count }, async () => {
          await through.query({ engine: name, deadlineMs: HOLD_MS });
          return performance.now() - began;
        }),
      );
      const holdMs = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      return { sent: through.sent, failed: through.failed, holdMs };
    },
    counts: () => ({
      agent: audit.requests(`system:serviceaccount:${NAMESPACE}:${ACCOUNT}`).length,
      operator: operator.requests.length,
    }),
    stamps: (name) => stampsOf.get(name)?.size ?? 0,
    agentMemory: () => memoryOf(wake.agent().pid),
    cpuMs: (who) => cpuMsOf(who === "agent" ? wake.agent().pid : (who === "plain" ? plain : wake).envoy.process.pid),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function createInstance(client: KubeClient): Promise<void> {
  const metadata = { namespace: NAMESPACE, name: "main" };
  const spec = { id: "01JD0000000000000000000000", metadata: {}, gateway: {} };
  await client.create(FireboltInstance, { metadata, spec } as FireboltInstance);
  const status = { metadataEndpoint: `main-metadata.${NAMESPACE}.svc.cluster.local:7000` };
  await client.patch(FireboltInstance, metadata, { type: "merge", body: { status } }, { subresource: "status" });
}

function memoryOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mebibytes = (field: string): number =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) / 1_024);
  return { rssMb: mebibytes("VmRSS"), anonymousMb: mebibytes("RssAnon"), peakRssMb: mebibytes("VmHWM") };
}

/** User and system time; the kernel counts in hundredths of a second. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
