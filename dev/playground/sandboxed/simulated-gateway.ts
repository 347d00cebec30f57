// Real processes behind the simulated pods of a gateway: Envoy with the operator's own configuration, its wake agent, and a name server that
// knows the real Services. The engines they find are in simulated-engine.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePorts, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { renderGatewayConfig } from "../../../src/gateway/gateway-config.ts";
import { serialiseGatewayConfig } from "../../../src/gateway/serialise.ts";
import { gatewayName } from "../../../src/instance/model/names.ts";
import { resolveAssets } from "../../assets/resolver.ts";
import { NODE_ADDRESS } from "../../cluster/addresses.ts";
import { startCoreDns } from "../../cluster/service-network.ts";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { sampleGateway } from "../../deploy/sample.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PROGRAM = join(ROOT, "dist/firebolt-operator.mjs");
const READY_MS = 60_000;

export interface SimulatedGatewayOptions {
  readonly workspace: Workspace;
  readonly plane: ControlPlane;
  readonly namespace: string;
  readonly instance: string;
  /** On loopback, where queries are taken. */
  readonly port: number;
  readonly progress: (line: string) => void;
}

/** Returns when it takes queries. Everything ends with the workspace. */
export async function startGateway(options: SimulatedGatewayOptions): Promise<void> {
  const { workspace, plane, namespace, progress } = options;
  const binaries = await resolveAssets(["coredns", "envoy"], { progress });
  const [coredns = "", envoy = ""] = [binaries.get("coredns"), binaries.get("envoy")];
  progress("starting Envoy, its wake agent and CoreDNS as processes");
  await startCoreDns({ workspace, controlPlane: plane, binary: coredns });
  const [metrics = 0, admin = 0, hold = 0, demand = 0, probe = 0] = await findFreePorts(5);
  await startWakeAgent(options, { admin, hold, demand, probe });
  const config = renderGatewayConfig(
    {
      namespace,
      metricsPort: metrics,
      wake: true,
      selection: { ...sampleGateway(), service: gatewayName(options.instance) },
    },
    {
      address: "127.0.0.1",
      clientPort: options.port,
      adminPort: admin,
      wakeHoldPort: hold,
      wakeProbePort: probe,
      dnsResolvers: [{ address: NODE_ADDRESS, port: 53 }],
    },
  );
  const file = workspace.write("envoy.yaml", serialiseGatewayConfig(config));
  const gateway = startProcess(workspace, {
    name: "envoy",
    binary: envoy,
    args: ["-c", file, "--disable-hot-restart", "--log-level", "warning"],
  });
  await gateway.waitUntilReady(
    async (signal) => (await (await fetch(`http://127.0.0.1:${admin}/ready`, { signal })).text()).startsWith("LIVE"),
    READY_MS,
  );
}

interface AgentPorts {
  readonly admin: number;
  readonly hold: number;
  readonly demand: number;
  readonly probe: number;
}

async function startWakeAgent(options: SimulatedGatewayOptions, ports: AgentPorts): Promise<void> {
  const { workspace, plane, namespace, instance } = options;
  // The identity that the operator has made for the gateway's pods, as a copy: what mentions the workspace's folder ends with it.
  const account = await plane.serviceAccountKubeconfig(namespace, gatewayName(instance));
  const kubeconfig = workspace.write("wake-agent.kubeconfig", readFileSync(account, "utf8"));
  const agent = startProcess(workspace, {
    name: "wake-agent",
    binary: process.execPath,
    args: [
      PROGRAM,
      "wake-agent",
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${namespace}`,
      `--hold-port=${ports.hold}`,
      `--demand-port=${ports.demand}`,
      `--envoy-admin-url=http://127.0.0.1:${ports.admin}`,
      `--probe-url=http://127.0.0.1:${ports.probe}`,
      "--stamp-annotation=true",
    ],
  });
  await agent.waitUntilReady(
    async (signal) => (await fetch(`http://127.0.0.1:${ports.hold}/healthz`, { signal })).ok,
    READY_MS,
  );
}
