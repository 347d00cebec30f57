// `status --gateways` as a process against a real API server, which reads pods for it: the agent's own report, Envoy's gauges, a pod that is
// silent, and a user who may not read pods.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { KubeObject } from "@firebolt-operator/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { LABEL } from "../../src/api/labels.ts";
import { WAKE_PATHS, WAKE_PORTS } from "../../src/api/wake-protocol.ts";
import { pods } from "../../src/engine/cluster/kinds.ts";
import { renderDiscovery } from "../../src/wake-agent/discovery/render-discovery.ts";
import { createNamespace, eventually, requestAs } from "../harness/control-plane/requests.ts";
import { openSimulatedCluster, type SimulatedCluster } from "../harness/control-plane/simulated-cluster.ts";
import { buildProgram } from "../harness/programs/operator-process.ts";
import { runPlugin } from "../harness/programs/plugin-process.ts";
import { runScript } from "./support/plugin-harness.ts";

let cluster: SimulatedCluster;
let namespace: string;
let agents: Server;
/** Addresses of pods whose agent accepts the request and never responds. */
const silent = new Set<string>();

const ENVOY = [
  "# TYPE envoy_cluster_upstream_rq_active gauge",
  'envoy_cluster_upstream_rq_active{envoy_cluster_name="admin_stats"} 1',
  'envoy_cluster_upstream_rq_active{envoy_cluster_name="adhoc"} 3',
  'envoy_cluster_upstream_cx_active{envoy_cluster_name="adhoc"} 2',
  "",
].join("\n");

/** As the agent writes it. */
const report = (): string =>
  renderDiscovery({
    discovery: {
      connected: true,
      engines: ["adhoc"],
      rejections: 1,
      generations: (engine) => new Map(engine === "adhoc" ? [[4, 2]] : []),
      isAccepted: () => false,
    },
    view: { complete: true, isWatchBroken: false, engineNames: ["adhoc"] },
    gateway: { queriesByName: 14, withoutNamesMs: 60_000 },
  });

/** Returns its address. */
async function addGateway(name: string, containers: readonly string[]): Promise<string> {
  const labels = { [LABEL.instance]: "lakeside", [LABEL.component]: "gateway" };
  const ports = [{ name: "metrics", containerPort: 9090 }];
  const spec = {
    containers: containers.map((container) => ({
      name: container,
      image: "example.com/i:1",
      ...(container === "envoy" ? { ports } : {}),
    })),
  };
  await cluster.client.create(pods, { metadata: { namespace, name, labels }, spec });
  return eventually(
    async () => {
      const { phase, podIP = "" } = (await cluster.client.get(pods, { namespace, name })).status ?? {};
      return phase === "Running" && podIP !== "" && podIP;
    },
    { describe: `pod ${name} runs` },
  );
}

beforeAll(async () => {
  [cluster] = await Promise.all([openSimulatedCluster(), buildProgram()]);
  namespace = await createNamespace("gateways", cluster.kubeconfig);
  agents = createServer((request, response) => {
    if (silent.has(request.socket.localAddress ?? "")) return;
    if (request.url === WAKE_PATHS.discovery) response.end(report());
    else response.writeHead(404).end("not found\n");
  }).listen(WAKE_PORTS.demand, "0.0.0.0");
  await once(agents, "listening");
  await cluster.client.create<KubeObject>(FireboltInstance, {
    metadata: { namespace, name: "lakeside" },
    ...{ spec: { metadata: {}, gateway: {} } },
  });
  for (const [name, containers] of [
    ["g-agentless", ["envoy"]],
    ["g-silent", ["envoy", "wake-agent"]],
    ["g-works", ["envoy", "wake-agent"]],
  ] as const) {
    const address = await addGateway(name, containers);
    cluster.metrics.answer(address, () => ({ body: ENVOY }));
    if (name === "g-silent") silent.add(address);
  }
}, 300_000);

afterAll(async () => {
  agents?.closeAllConnections();
  agents?.close();
  await cluster?.[Symbol.asyncDispose]();
});

const status = (kubeconfig: string, ...args: readonly string[]) =>
  runPlugin(["status", ...args, `--kubeconfig=${kubeconfig}`, "-n", namespace]);

test("every gateway pod is a row with what it reported; one that is silent does not keep the others from theirs", async () => {
  const { code, stdout, stderr } = await status(cluster.kubeconfig, "--gateways");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.replaceAll(/ {2,}/g, "  ")).toMatch(
    new RegExp(
      [
        "├─ g-agentless  Running  yes  \\S+  no wake agent: engines are resolved by name",
        "│  └─ adhoc  3 queries on 2 connections",
        "├─ g-silent  Running  yes  \\S+  state unknown: no response within 5 s",
        "│  └─ adhoc  3 queries on 2 connections",
        "└─ g-works  Running  yes  \\S+  discovers endpoints of 1 engine, 14 queries by name, Envoy rejected 1 resource",
        "   └─ adhoc  3 queries on 2 connections, generation 4, new endpoints not accepted yet",
      ]
        .join("\n")
        .replaceAll(/^ {3}/gm, " +"),
      "m",
    ),
  );
});

test("-o json has the same as data, and nothing of it without the flag", async () => {
  const { stdout } = await status(cluster.kubeconfig, "--gateways", "-o", "json");
  const { instances } = JSON.parse(stdout) as { readonly instances: readonly { readonly gateways: unknown }[] };
  expect(instances[0]?.gateways).toMatchObject([
    { name: "g-agentless", discovery: { type: "none" } },
    { name: "g-silent", discovery: { type: "unknown", cause: "no response within 5 s" } },
    {
      name: "g-works",
      discovery: { type: "read", active: true, connected: true, clusters: 1, rejected: 1, queriesByName: 14 },
      engines: [
        { name: "adhoc", queries: 3, connections: 2, generations: [{ generation: 4, endpoints: 2 }], pending: true },
      ],
    },
  ]);
  expect((await status(cluster.kubeconfig, "-o", "json")).stdout).not.toContain('"gateways":');
});

test("the printed commands read the same from the pods", async () => {
  const { stdout: script } = await status(cluster.kubeconfig, "--gateways", "--print-commands");
  const works = script
    .split("\n")
    .filter((line) => line.startsWith("kubectl ") && line.includes("/pods/g-works:"))
    .join("\n");
  const kubectl = (await resolveAssets(["kubectl"])).get("kubectl") ?? "";
  const { code, stdout } = await runScript(works, { folder: tmpdir(), path: [dirname(kubectl)] });
  expect(code).toBe(0);
  expect(stdout).toContain("firebolt_gateway_discovery_active 1\n");
  expect(stdout).toContain(ENVOY);
});

test("without permission to get pods/proxy the rows say so, and the rest is shown", async () => {
  const kubeconfig = await cluster.serviceAccountKubeconfig(namespace, "reader");
  const group = "rbac.authorization.k8s.io";
  const create = (kind: string, rest: object) =>
    requestAs(cluster.kubeconfig, {
      method: "POST",
      path: `/apis/${group}/v1/namespaces/${namespace}/${kind.toLowerCase()}s`,
      body: { apiVersion: `${group}/v1`, kind, metadata: { name: "reader" }, ...rest },
    });
  await create("Role", {
    rules: [
      { apiGroups: ["compute.firebolt.io"], resources: ["*"], verbs: ["get", "list"] },
      {
        apiGroups: ["", "apps"],
        resources: ["pods", "services", "statefulsets", "deployments"],
        verbs: ["get", "list"],
      },
    ],
  });
  await create("RoleBinding", {
    roleRef: { apiGroup: group, kind: "Role", name: "reader" },
    subjects: [{ kind: "ServiceAccount", name: "reader", namespace }],
  });
  // The API server observes a role through its own watch.
  await eventually(async () => {
    const { code, stdout, stderr } = await status(kubeconfig, "--gateways");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replaceAll(/ {2,}/g, "  ")).toMatch(
      /g-works {2}Running {2}yes {2}\S+ {2}state unknown: you have no permission to get pods\/proxy$/m,
    );
  });
});
