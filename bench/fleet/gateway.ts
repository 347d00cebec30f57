// The cost of the gateway configuration per query: the same Envoy, engines and load, compared with a bare static route
// (with reused connections, and with one query per connection), in turn within one run: with an agent, with a reduced
// access log, with an agent that is away, and without one. Then the memory of Envoy and agent with many engines. No
// control plane: the configuration is rendered as the operator renders it.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { findFreePorts, openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { type GatewayConfigInput, renderGatewayConfig } from "../../src/gateway/gateway-config.ts";
import type { GatewayPlacement, SocketEndpoint } from "../../src/gateway/placement.ts";
import { ENGINE_QUERY_PORT } from "../../src/gateway/ports.ts";
import { serialiseGatewayConfig } from "../../src/gateway/serialise.ts";
import { startDnsServer } from "../../test/harness/envoy/dns-server.ts";
import { startEnvoy } from "../../test/harness/envoy/envoy.ts";
import { podAddress } from "../../test/harness/pods/pod-network.ts";
import { renderBareConfig } from "./bare-envoy.ts";
import type { Progress } from "./harness.ts";
import { meterProcess } from "./process-meter.ts";

export interface GatewayLoad {
  readonly requests: number;
  readonly failed: number;
  /** The median round, so that a disturbed one does not decide. */
  readonly rps: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Envoy's processor time per query; the same on a busy machine and on an idle one. */
  readonly cpuUs: number;
}

export type GatewayKind =
  | "gateway"
  | "gatewayErrorsLogged"
  | "gatewayAgentAway"
  | "gatewayWithoutAgent"
  | "bare"
  | "bareOnePerConnection";
export type GatewayFigures = Readonly<Record<GatewayKind, GatewayLoad>> & {
  readonly memory: readonly GatewayMemory[];
};

/** Resident memory in megabytes. The agent's is without the watches of a cluster. */
export interface GatewayMemory {
  readonly engines: number;
  readonly envoyMb: number;
  /** Envoy has every engine as a cluster. */
  readonly envoyPublishedMb: number;
  /** Every engine has had a query. */
  readonly envoyUsedMb: number;
  readonly agentMb: number;
}

export interface GatewayOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

const PROCESSES = join(import.meta.dirname, "../processes");
const NAMESPACE = "bench";
const ENGINE = "hot";
/** One query per connection: to one address the local ports would run out. */
const ADDRESSES = 16;

interface Round {
  readonly requests: number;
  readonly failed: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
}

export async function measureGateway(progress: Progress, options: GatewayOptions): Promise<GatewayFigures> {
  await using stack = new AsyncDisposableStack();
  const workspace = openWorkspace("gateway-bench-");
  stack.defer(() => workspace.close());
  const addresses = Array.from({ length: ADDRESSES }, (_, index) => podAddress(index + 1));
  const dns = await startDnsServer();
  stack.defer(() => dns.close());
  dns.set(`${ENGINE}-service.${NAMESPACE}.svc.cluster.local`, addresses);
  const engine = spawn(process.execPath, [join(PROCESSES, "wake-engine.ts")], { stdio: ["ignore", "pipe", "inherit"] });
  stack.defer(async () => {
    engine.kill("SIGKILL");
    await once(engine, "exit");
  });
  await once(engine.stdout, "data");
  const start = async (name: GatewayKind, render: (ports: Ports) => string) => {
    const [clientPort = 0, metricsPort = 0, adminPort = 0] = await findFreePorts(3);
    const config = render({ clientPort, metricsPort, adminPort });
    const envoy = await startEnvoy(workspace, { name, config, adminPort, concurrency: 1 });
    return { name, clientPort, meter: meterProcess(envoy.process.pid), rounds: [] as Round[] };
  };
  const bare = (oneQueryPerConnection: boolean) => (ports: Ports) =>
    renderBareConfig({ ...ports, addresses, port: ENGINE_QUERY_PORT, oneQueryPerConnection });
  // One per gateway, as in a pod: an agent publishes to one Envoy.
  const agentFor = async (): Promise<AgentPorts> => {
    const [wakeHoldPort = 0, wakeDiscoveryPort = 0] = await findFreePorts(2);
    const agent = await startAgent({ holdPort: wakeHoldPort, discoveryPort: wakeDiscoveryPort, engines: 0, addresses });
    stack.defer(() => agent.stop());
    return { wakeHoldPort, wakeDiscoveryPort };
  };
  const [nowhere = 0] = await findFreePorts(1);
  const rendered = (input: Partial<GatewayConfigInput>, agentPorts: AgentPorts) => (ports: Ports) =>
    renderFor({ ...ports, ...agentPorts, dns }, input);
  const candidates = [
    await start("gateway", rendered({ wake: true }, await agentFor())),
    await start("gatewayErrorsLogged", rendered({ wake: true, accessLog: "errors" }, await agentFor())),
    await start("gatewayAgentAway", rendered({ wake: true }, { wakeHoldPort: nowhere, wakeDiscoveryPort: nowhere })),
    await start("gatewayWithoutAgent", rendered({}, {})),
    await start("bare", bare(false)),
    await start("bareOnePerConnection", bare(true)),
  ];
  // Name look-ups and reused connections are made before the measurement.
  for (const { name, clientPort } of candidates) {
    progress(`gateway: warming up ${name} on port ${clientPort}`);
    await load(clientPort, { ...options, seconds: 1 });
  }
  for (let round = 0; round < options.rounds; round++) {
    // The order rotates, so that no configuration is always the first.
    for (const index of candidates.keys()) {
      const one = candidates[(index + round) % candidates.length];
      if (one === undefined) continue;
      const before = one.meter.cpuSeconds();
      const loaded = await load(one.clientPort, options);
      one.rounds.push({ ...loaded, cpuMs: (one.meter.cpuSeconds() - before) * 1_000 });
    }
    progress(`gateway: ${round + 1} of ${options.rounds} rounds`);
  }
  const figures = candidates.map(({ name, rounds }) => [name, merge(rounds)] as const);
  const memory: GatewayMemory[] = [];
  for (const engines of MEMORY_ENGINES) {
    memory.push(await measureMemory(workspace, { engines, addresses: addresses.slice(0, 2), dns }));
    progress(`gateway: memory with ${engines} engines`);
  }
  return { ...(Object.fromEntries(figures) as Record<GatewayKind, GatewayLoad>), memory };
}

type AgentPorts = Pick<GatewayPlacement, "wakeHoldPort" | "wakeDiscoveryPort">;

function renderFor(
  { clientPort, metricsPort, adminPort, dns, ...agentPorts }: Ports & AgentPorts & { readonly dns: SocketEndpoint },
  input: Partial<GatewayConfigInput>,
): string {
  const placement = { address: "127.0.0.1", clientPort, adminPort, dnsResolvers: [dns], ...agentPorts };
  return serialiseGatewayConfig(renderGatewayConfig({ namespace: NAMESPACE, metricsPort, ...input }, placement));
}

const MEMORY_ENGINES = [1_000, 3_000];
const AT_ONCE = 16;

interface MemoryInput {
  readonly engines: number;
  readonly addresses: readonly string[];
  readonly dns: SocketEndpoint;
}

async function measureMemory(workspace: Workspace, { engines, addresses, dns }: MemoryInput): Promise<GatewayMemory> {
  const [clientPort = 0, metricsPort = 0, adminPort = 0, wakeHoldPort = 0, wakeDiscoveryPort = 0, probePort = 0] =
    await findFreePorts(6);
  const agent = await startAgent({ holdPort: wakeHoldPort, discoveryPort: wakeDiscoveryPort, engines, addresses });
  try {
    const placement = { clientPort, metricsPort, adminPort, wakeHoldPort, wakeDiscoveryPort, wakeProbePort: probePort };
    const config = renderFor({ ...placement, dns }, { wake: true });
    const envoy = await startEnvoy(workspace, { name: `memory-${engines}`, config, adminPort, concurrency: 1 });
    const resident = (pid: number): number => meterProcess(pid).memory().rssMb;
    const envoyMb = resident(envoy.process.pid);
    const each = async (send: (engine: string) => Promise<Response>): Promise<void> => {
      const names = Array.from({ length: engines }, (_, index) => `engine-${index}`);
      const next = names.values();
      const work = async (): Promise<void> => {
        for (const name of next) {
          const response = await send(name);
          await response.text();
          if (response.status !== 200) throw new Error(`${name}: ${response.status}`);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    };
    await each((name) => fetch(`http://127.0.0.1:${wakeHoldPort}/check?engine=${name}`));
    const envoyPublishedMb = resident(envoy.process.pid);
    await each((name) => fetch(`http://127.0.0.1:${clientPort}/`, { headers: { "X-Firebolt-Engine": name } }));
    const figures = { engines, envoyMb, envoyPublishedMb, envoyUsedMb: resident(envoy.process.pid) };
    await envoy.process.stop("SIGKILL");
    return { ...figures, agentMb: resident(agent.pid) };
  } finally {
    await agent.stop();
  }
}

interface AgentInput {
  readonly holdPort: number;
  readonly discoveryPort: number;
  readonly engines: number;
  readonly addresses: readonly string[];
}

async function startAgent({ holdPort, discoveryPort, engines, addresses }: AgentInput) {
  const args = [holdPort, discoveryPort, engines].map(String);
  const child = spawn(process.execPath, [join(PROCESSES, "discovery-agent.ts"), ...args, ...addresses], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    pid: child.pid ?? 0,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

interface Ports {
  readonly clientPort: number;
  readonly metricsPort: number;
  readonly adminPort: number;
}

async function load(
  port: number,
  { connections, seconds }: Omit<GatewayOptions, "rounds">,
): Promise<Omit<Round, "cpuMs">> {
  const args = [join(PROCESSES, "wake-load.ts"), String(port), ENGINE, String(connections), String(seconds)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: (seconds + 30) * 1_000 });
  return JSON.parse(stdout) as Omit<Round, "cpuMs">;
}

function merge(rounds: readonly Round[]): GatewayLoad {
  const sum = (of: (one: Round) => number): number => rounds.reduce((all, one) => all + of(one), 0);
  const requests = sum((one) => one.requests);
  return {
    requests,
    failed: sum((one) => one.failed),
    rps: Math.round(median(rounds.map((one) => (one.requests / one.elapsedMs) * 1_000))),
    p50Ms: median(rounds.map((one) => one.p50Ms)),
    p99Ms: median(rounds.map((one) => one.p99Ms)),
    cpuUs: Math.round((sum((one) => one.cpuMs) * 10_000) / requests) / 10,
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? Number.NaN) * 100) / 100;
}
