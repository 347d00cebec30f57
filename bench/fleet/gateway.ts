// The cost of the gateway configuration per query: the same Envoy, engines and load, compared with a bare static route
// (with reused connections, and with one query per connection like the gateway), in turn within one run. No control
// plane: the configuration is rendered as the operator renders it.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { findFreePorts, openWorkspace } from "@firebolt-operator/kube/testing";
import { renderGatewayConfig } from "../../src/gateway/gateway-config.ts";
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

export type GatewayKind = "gateway" | "bare" | "bareOnePerConnection";
export type GatewayFigures = Readonly<Record<GatewayKind, GatewayLoad>>;

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
  const candidates = [
    await start("gateway", ({ clientPort, metricsPort, adminPort }) =>
      serialiseGatewayConfig(
        renderGatewayConfig(
          { namespace: NAMESPACE, metricsPort },
          { address: "127.0.0.1", clientPort, adminPort, dnsResolvers: [dns] },
        ),
      ),
    ),
    await start("bare", bare(false)),
    await start("bareOnePerConnection", bare(true)),
  ];
  // Name look-ups and reused connections are made before the measurement.
  for (const { clientPort } of candidates) await load(clientPort, { ...options, seconds: 1 });
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
  return Object.fromEntries(figures) as Record<GatewayKind, GatewayLoad>;
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
