// Everything between a client and an engine that sleeps: control plane, operator, name server, simulated engines, and gateways with
// their wake agents, on the run's simulated cluster. Each test has a namespace and gateways of its own.
import { openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { LABEL } from "../../../src/api/labels.ts";
import { pods } from "../../../src/engine/cluster/kinds.ts";
import { GATEWAY_PORTS } from "../../../src/gateway/ports.ts";
import { type WakeMode, wakeAgentRules } from "../../../src/gateway/wake-container.ts";
import type { EngineControlPlane } from "../../engine/support/engine-control-plane.ts";
import { type EngineHarness, openEngineHarness } from "../../engine/support/engine-harness.ts";
import { eventually, requestAs } from "../../harness/control-plane/requests.ts";
import { openSimulatedCluster } from "../../harness/control-plane/simulated-cluster.ts";
import { GatewayClient } from "../../harness/envoy/gateway-client.ts";
import type { InProcessOptions } from "../../harness/operator/engine-operator-in-process.ts";
import { type NamespaceDns, startNamespaceDns } from "./dns.ts";
import { type SimulatedEngines, startSimulatedEngines } from "./engines.ts";
import { startWakeGateway, type WakeGateway, type WakeGatewayOptions } from "./gateway.ts";

const ACCOUNT = "main-gateway";

export interface WakePlane extends EngineControlPlane {
  readonly url: string;
  /** The requests of the gateway's account in this namespace as `verb resource/name`, without watches. */
  agentRequests(namespace: string): readonly string[];
  /** A kubeconfig of the gateway's service account, with whatever permissions it has. */
  accountKubeconfig(namespace: string): Promise<string>;
  /** The same, with the permissions that the operator gives it. */
  gatewayKubeconfig(namespace: string, mode?: WakeMode): Promise<string>;
}

export async function openWakePlane(): Promise<WakePlane> {
  const cluster = await openSimulatedCluster();
  const { kubeconfig } = cluster;
  return {
    ...cluster,
    agentRequests: (namespace) => cluster.requestsOf(namespace, ACCOUNT),
    accountKubeconfig: (namespace) => cluster.serviceAccountKubeconfig(namespace, ACCOUNT),
    async gatewayKubeconfig(namespace, mode = "annotation") {
      const path = await cluster.serviceAccountKubeconfig(namespace, ACCOUNT);
      const group = "rbac.authorization.k8s.io";
      const rbac = `/apis/${group}/v1/namespaces/${namespace}`;
      const metadata = { name: ACCOUNT };
      const subjects = [{ kind: "ServiceAccount", name: ACCOUNT, namespace }];
      const roleRef = { apiGroup: group, kind: "Role", name: ACCOUNT };
      const role = { apiVersion: `${group}/v1`, kind: "Role", metadata, rules: wakeAgentRules(mode) };
      const binding = { apiVersion: `${group}/v1`, kind: "RoleBinding", metadata, subjects, roleRef };
      await requestAs(kubeconfig, { method: "POST", path: `${rbac}/roles`, body: role });
      await requestAs(kubeconfig, { method: "POST", path: `${rbac}/rolebindings`, body: binding });
      return path;
    },
  };
}

export interface WakeHarness extends AsyncDisposable {
  readonly engineHarness: EngineHarness;
  readonly workspace: Workspace;
  readonly dns: NamespaceDns;
  readonly engines: SimulatedEngines;
  readonly kubeconfig: string;
  /** A gateway with an agent; it ends with the world. */
  gateway(options?: Partial<WakeGatewayOptions>): Promise<WakeGateway>;
  client(gateway: WakeGateway): GatewayClient;
  /** An engine with auto-stop that is stopped and has settled. */
  createStopped(name: string, spec?: object): Promise<void>;
  /** A simulated pod of a gateway: connections to it reach the agent that runs here. Returns its address. */
  gatewayPod(name: string): Promise<string>;
  /** How often the engine was stamped: versions of its annotation. */
  stamps(name: string): number;
}

export const AUTO_STOP = { enabled: true, activeReplicas: 1, idleTimeout: "30m" };

export interface WakeHarnessOptions {
  /** In demand mode there is one gateway at most: its agent responds for every gateway pod. Default annotation. */
  readonly mode?: WakeMode;
  readonly operator?: Partial<InProcessOptions>;
}

export async function openWakeHarness(
  plane: WakePlane,
  prefix: string,
  { mode = "annotation", operator }: WakeHarnessOptions = {},
): Promise<WakeHarness> {
  const engineHarness = await openEngineHarness(plane, prefix);
  await engineHarness.createInstance();
  await engineHarness.operator({ demand: mode === "demand", ...operator });
  const workspace = openWorkspace("wake-");
  const dns = await startNamespaceDns(plane.client, engineHarness.namespace);
  const engines = await startSimulatedEngines((address) =>
    engineHarness.history
      .present("Pod")
      .some(({ status, metadata }) => status?.podIP === address && metadata?.deletionTimestamp === undefined),
  );
  const kubeconfig = await plane.gatewayKubeconfig(engineHarness.namespace, mode);
  const showing = { demandPort: GATEWAY_PORTS.wakeDemand, agentFlags: ["--stamp-annotation=false"] };
  let gateways = 0;
  return {
    engineHarness,
    workspace,
    dns,
    engines,
    kubeconfig,
    gateway: (options = {}) =>
      startWakeGateway({
        workspace,
        namespace: engineHarness.namespace,
        kubeconfig,
        dns: dns.server,
        name: `gateway-${++gateways}`,
        ...(mode === "demand" ? showing : {}),
        ...options,
      }),
    client: (gateway) => new GatewayClient(gateway.clientPort),
    async createStopped(name, spec = {}) {
      await engineHarness.createEngine(name, { replicas: 0, autoStop: AUTO_STOP, ...spec });
      await engineHarness.until(
        name,
        ({ status }) => status?.phase === "stopped" && status.autoStopReason !== undefined,
        "stopped",
      );
    },
    async gatewayPod(name) {
      const labels = { [LABEL.instance]: "main", [LABEL.component]: "gateway" };
      const containers = ["envoy", "wake-agent"].map((container) => ({ name: container, image: "example.com/i:1" }));
      const key = { namespace: engineHarness.namespace, name };
      await plane.client.create(pods, { metadata: { ...key, labels }, spec: { containers } });
      return eventually(async () => {
        const { phase, podIP = "" } = (await plane.client.get(pods, key)).status ?? {};
        return phase === "Running" && podIP !== "" && podIP;
      });
    },
    stamps: (name) =>
      new Set(
        engineHarness.history
          .of("FireboltEngine", name)
          .flatMap(({ object }) => object.metadata?.annotations?.["firebolt.io/wake-requested"] ?? []),
      ).size,
    async [Symbol.asyncDispose]() {
      await workspace.close();
      await dns[Symbol.asyncDispose]();
      await engines[Symbol.asyncDispose]();
      await engineHarness[Symbol.asyncDispose]();
    },
  };
}
