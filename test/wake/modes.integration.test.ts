// The whole program on a running instance whose wake mode is changed and changed back: the gateway gets the arguments and the permissions of
// the mode, its agent runs with exactly those beside a real Envoy, and in each mode queries wake stopped engines.
import { defineResource } from "@firebolt-operator/kube";
import { findFreePorts, openApiFromKubeconfig, openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { V1Deployment } from "../../src/api/generated/kubernetes.ts";
import { GATEWAY_PORTS } from "../../src/gateway/ports.ts";
import type { WakeMode } from "../../src/gateway/wake-container.ts";
import { type EngineHarness, openEngineHarness } from "../engine/support/engine-harness.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { GatewayClient } from "../harness/envoy/gateway-client.ts";
import { buildProgram, type OperatorProcess, startOperator } from "../harness/programs/operator-process.ts";
import { type NamespaceDns, startNamespaceDns } from "./support/dns.ts";
import { type SimulatedEngines, startSimulatedEngines } from "./support/engines.ts";
import { startWakeGateway, type WakeGateway } from "./support/gateway.ts";
import { AUTO_STOP, openWakePlane, type WakePlane } from "./support/wake-harness.ts";

const PATIENCE = { timeoutMs: 90_000 };
const Deployment = defineResource<V1Deployment>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
});

let plane: WakePlane;
let engineHarness: EngineHarness;
let workspace: Workspace;
let dns: NamespaceDns;
let engines: SimulatedEngines;
let kubeconfig: string;
let metricsPort: number;

beforeAll(async () => {
  [plane] = await Promise.all([openWakePlane(), buildProgram()]);
  [metricsPort = 0] = await findFreePorts(1);
  engineHarness = await openEngineHarness(plane, "modes");
  await engineHarness.createInstance("");
  workspace = openWorkspace("wake-modes-");
  dns = await startNamespaceDns(plane.client, engineHarness.namespace);
  engines = await startSimulatedEngines((address) =>
    engineHarness.history
      .present("Pod")
      .some(({ status, metadata }) => status?.podIP === address && metadata?.deletionTimestamp === undefined),
  );
}, 300_000);
afterAll(async () => {
  await workspace?.close();
  await dns?.[Symbol.asyncDispose]();
  await engines?.[Symbol.asyncDispose]();
  await engineHarness?.[Symbol.asyncDispose]();
  await plane?.[Symbol.asyncDispose]();
});

function startProgram(mode: WakeMode): OperatorProcess {
  return startOperator([
    `--kubeconfig=${plane.kubeconfig}`,
    `--namespaces=${engineHarness.namespace}`,
    "--enable-webhooks=false",
    "--health-probe-bind-address=0",
    "--wake-agent-image=example.com/operator:1",
    `--wake-mode=${mode}`,
    `--metrics-bind-address=127.0.0.1:${metricsPort}`,
    "--metrics-secure=false",
    "--drain-settle=0s",
  ]);
}

/** Demand pages that could not be read, by the program's own count; undefined before the first. */
async function failedScrapes(): Promise<number | undefined> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { signal: AbortSignal.timeout(10_000) });
  const series = `firebolt_operator_demand_scrape_errors_total{namespace="${engineHarness.namespace}"} `;
  const line = (await answer.text()).split("\n").find((text) => text.startsWith(series));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

/** The arguments of the agent, once every pod of the gateway has them. */
function agentArgs(mode: WakeMode): Promise<readonly string[]> {
  return eventually(async () => {
    const key = { namespace: engineHarness.namespace, name: "main-gateway" };
    const { spec, status, metadata } = await plane.client.get(Deployment, key);
    const args = spec?.template.spec?.containers.find(({ name }) => name === "wake-agent")?.args ?? [];
    expect(args.includes("--stamp-annotation=true")).toBe(mode === "annotation");
    expect([status?.observedGeneration, status?.updatedReplicas, status?.replicas]).toEqual([
      metadata?.generation,
      2,
      2,
    ]);
    return args;
  }, PATIENCE);
}

/** What the gateway's token gets when it reads engines. */
async function mayReadEngines(): Promise<number> {
  const api = openApiFromKubeconfig(kubeconfig);
  try {
    const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${engineHarness.namespace}/fireboltengines`;
    return (await api.send({ path })).status;
  } finally {
    api.close();
  }
}

async function startGateway(args: readonly string[]): Promise<WakeGateway> {
  // The agent's addresses differ here; everything else is as in the pod.
  const elsewhere = /^--(hold-port|demand-port|envoy-admin-url|probe-url|per-hold-bytes)=|^wake-agent$/;
  return startWakeGateway({
    workspace,
    namespace: engineHarness.namespace,
    kubeconfig,
    dns: dns.server,
    demandPort: GATEWAY_PORTS.wakeDemand,
    agentFlags: ["--stamp-annotation=false", ...args.filter((arg) => !elsewhere.test(arg))],
  });
}

const stampOf = (name: string) => engineHarness.engine(name).metadata?.annotations?.["firebolt.io/wake-requested"];

test("annotation, demand, annotation: queries wake engines in each, with the permissions of each", async () => {
  const client = { sent: 0, failed: 0 };
  for (const [index, mode] of (["annotation", "demand", "annotation"] as const).entries()) {
    await using program = startProgram(mode);
    const args = await agentArgs(mode);
    kubeconfig = await plane.accountKubeconfig(engineHarness.namespace);
    await eventually(async () => expect(await mayReadEngines()).toBe(mode === "annotation" ? 200 : 403), PATIENCE);
    const engine = `e${index}`;
    await engineHarness.createEngine(engine, { replicas: 0, autoStop: AUTO_STOP });
    await engineHarness.until(
      engine,
      ({ status }) => status?.autoStopReason === "Stopped",
      "stopped",
      PATIENCE.timeoutMs,
    );
    // No agent responds yet: this matters only in demand mode.
    if (mode === "demand") await eventually(async () => expect(await failedScrapes()).toBeGreaterThan(1), PATIENCE);
    else expect(await failedScrapes()).toBeUndefined();
    const gateway = await startGateway(args);
    const queries = new GatewayClient(gateway.clientPort);
    await Promise.all(Array.from({ length: 20 }, () => queries.query({ engine, deadlineMs: 60_000 })));
    client.sent += queries.sent;
    client.failed += queries.failed;
    expect(stampOf(engine) !== undefined, `${mode}: stamped`).toBe(mode === "annotation");
    await gateway.stop();
    program.signal("SIGTERM");
    expect(await program.exit, program.stderr()).toBe(0);
  }
  console.log(`three modes on one instance: ${client.sent} queries sent, ${client.failed} failed`);
  expect(client).toEqual({ sent: 60, failed: 0 });
}, 300_000);
