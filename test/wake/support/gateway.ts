// A gateway that holds queries, as it runs in a pod: the rendered configuration in a real Envoy, and the wake agent beside it as a
// process with its own identity. On free ports of loopback.
import { readFileSync } from "node:fs";
import { findFreePorts, type ManagedProcess, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { renderGatewayConfig } from "../../../src/gateway/gateway-config.ts";
import type { EngineSelection } from "../../../src/gateway/host-names.ts";
import { serialiseGatewayConfig } from "../../../src/gateway/serialise.ts";
import { type RunningEnvoy, startEnvoy } from "../../harness/envoy/envoy.ts";

const AGENT_MAIN = new URL("./start-agent.ts", import.meta.url).pathname;
const READY_MS = 90_000;
const GIBIBYTE = 1024 ** 3;

export interface WakeGatewayOptions {
  readonly workspace: Workspace;
  readonly name?: string;
  readonly namespace: string;
  /** Whom the agent is to the API server. */
  readonly kubeconfig: string;
  readonly dns: { readonly address: string; readonly port: number };
  /** Further ways to name an engine. */
  readonly selection?: EngineSelection;
  /** Without it the plain configuration is run, and no agent. */
  readonly wake?: boolean;
  /** Further flags of the agent; later ones win. */
  readonly agentFlags?: readonly string[];
  /** The agent's program. Default: from the sources. */
  readonly agentProgram?: readonly string[];
  readonly concurrency?: number;
  /** Where the agent shows demand. Default: a free port. */
  readonly demandPort?: number;
  /** Whether a start waits until the agent has synced the engines. Default true; not for one that cannot sync. */
  readonly awaitView?: boolean;
}

export interface WakeGateway {
  readonly clientPort: number;
  readonly envoy: RunningEnvoy;
  readonly holdPort: number;
  readonly demandPort: number;
  /** The agent that runs now. */
  agent(): ManagedProcess;
  startAgent(): Promise<void>;
  /** What the agent shows: the value of a series, 0 when it is not there. */
  demand(series: string, engine?: string): Promise<number>;
  /** Milliseconds that the request with this query_label took, by Envoy's own clock. */
  tookMs(label: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startWakeGateway(options: WakeGatewayOptions): Promise<WakeGateway> {
  const { workspace, namespace, name = "gateway", wake = true, awaitView = true } = options;
  const [clientPort = 0, metricsPort = 0, adminPort = 0, holdPort = 0, freePort = 0, probePort = 0, discoveryPort = 0] =
    await findFreePorts(7);
  const { demandPort = freePort } = options;
  const config = renderGatewayConfig(
    { namespace, metricsPort, wake, selection: options.selection },
    {
      address: "127.0.0.1",
      clientPort,
      adminPort,
      dnsResolvers: [options.dns],
      wakeHoldPort: holdPort,
      wakeProbePort: probePort,
      wakeDiscoveryPort: discoveryPort,
    },
  );
  // A copy in the workspace: processes that mention its folder end with it.
  const kubeconfig = workspace.write(`${name}.kubeconfig`, readFileSync(options.kubeconfig, "utf8"));
  let agent: ManagedProcess | undefined;
  let started = 0;
  const startAgent = async (): Promise<void> => {
    const [binary = "", ...program] = options.agentProgram ?? [process.execPath, AGENT_MAIN];
    agent = startProcess(workspace, {
      name: `${name}-agent-${++started}`,
      binary,
      args: [
        ...program,
        `--kubeconfig=${kubeconfig}`,
        `--namespace=${namespace}`,
        `--hold-port=${holdPort}`,
        `--demand-port=${demandPort}`,
        `--discovery-port=${discoveryPort}`,
        `--envoy-admin-url=http://127.0.0.1:${adminPort}`,
        `--probe-url=http://127.0.0.1:${probePort}`,
        `--envoy-memory-limit-bytes=${8 * GIBIBYTE}`,
        "--per-hold-bytes=2097152",
        "--stamp-annotation=true",
        "--zap-log-level=debug",
        ...(options.agentFlags ?? []),
      ],
    });
    const status = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${holdPort}${path}`)).status;
    await agent.waitUntilReady(async () => (await status("/healthz")) === 200, READY_MS);
    // Until it has listed everything the agent lets every query pass, also one for a stopped engine.
    if (awaitView) await agent.waitUntilReady(async () => (await status("/check?engine=nobody")) === 404, READY_MS);
  };
  if (wake) await startAgent();
  const envoy = await startEnvoy(workspace, {
    name: `${name}-envoy`,
    config: serialiseGatewayConfig(config),
    adminPort,
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
  });
  return {
    clientPort,
    envoy,
    holdPort,
    demandPort,
    agent: () => {
      if (agent === undefined) throw new Error("there is no agent");
      return agent;
    },
    startAgent,
    async demand(series, engine) {
      const page = await (await fetch(`http://127.0.0.1:${demandPort}/demand`)).text();
      const label = engine === undefined ? "" : `{engine="${engine}"}`;
      const line = page
        .split("\n")
        .find((candidate) => candidate.startsWith(`firebolt_gateway_wake_${series}${label} `));
      return Number(line?.split(" ").at(-1) ?? 0);
    },
    async tookMs(label) {
      const line = await envoy.logged(`query_label=${label} `);
      return Number(/ duration=(\d+)ms /.exec(line)?.[1]);
    },
    async stop() {
      await agent?.stop("SIGKILL");
      await envoy.process.stop("SIGKILL");
    },
  };
}
