// Reading gateway pods with the real client from a server on loopback that responds as pods and the API server do: what
// is requested, and what becomes of a pod that is slow, forbidden, gone, or sends what it should not.
import type { ServerResponse } from "node:http";
import { createKubeClient, type KubeClient } from "@firebolt-operator/kube/client";
import { type Loopback, ManualClock, respondJson, type Script, startLoopback } from "@firebolt-operator/kube/testing";
import { afterEach, expect, test } from "vitest";
import type { V1Pod } from "../../../api/generated/kubernetes.ts";
import { gatewayText, viewGateways } from "./gateway-view.ts";
import { gatewayTargets, observeGateways } from "./observe-gateways.ts";

const DISCOVERY = "firebolt_gateway_discovery_active 1\nfirebolt_gateway_discovery_engines 2\n";
const LOAD = [
  'envoy_cluster_upstream_rq_active{envoy_cluster_name="admin_stats"} 1',
  'envoy_cluster_upstream_rq_active{envoy_cluster_name="adhoc"} 3',
  'envoy_cluster_upstream_cx_active{envoy_cluster_name="adhoc"} 2',
  "",
].join("\n");

const open: { readonly server: Loopback; readonly client: KubeClient }[] = [];
afterEach(async () => {
  for (const { server, client } of open.splice(0)) {
    client.close();
    await server[Symbol.asyncDispose]();
  }
});

async function serve(script: Script) {
  const clock = new ManualClock();
  const interrupt = new AbortController();
  const server = await startLoopback(script);
  const client = createKubeClient({ config: server.config(), clock });
  open.push({ server, client });
  const call = { signal: interrupt.signal, timeoutMs: 30_000 };
  return { server, clock, interrupt, access: { client, clock, call } };
}

interface PodFields {
  readonly containers?: readonly string[];
  readonly metricsPort?: number;
  readonly phase?: string;
}

function pod(
  name: string,
  { containers = ["envoy", "wake-agent"], metricsPort = 9090, phase = "Running" }: PodFields = {},
): V1Pod {
  return {
    metadata: { name, namespace: "ns", labels: { "firebolt.io/component": "gateway" } },
    spec: {
      containers: containers.map((container) => ({
        name: container,
        image: "example.com/i:1",
        ...(container === "envoy" ? { ports: [{ name: "metrics", containerPort: metricsPort }] } : {}),
      })),
    },
    status: { phase },
  };
}

const respond: Script = ({ url }, response) => void response.end(url.includes("/discovery") ? DISCOVERY : LOAD);
const apiStatus = (response: ServerResponse, code: number, reason: string): void =>
  respondJson(response, code, {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason,
    code,
    message: "\u001b[31mno",
  });

test("both ports of every running pod are read, each once", async () => {
  const { server, access } = await serve(respond);
  const pods = [
    pod("a"),
    pod("b", { metricsPort: 9191 }),
    pod("agentless", { containers: ["envoy"] }),
    pod("starting", { phase: "Pending" }),
  ];
  const readings = await observeGateways(access, pods);
  const filter = "?usedonly&filter=%5Ecluster%5B.%5D.%2B%5B.%5Dupstream_(rq%7Ccx)_active%24";
  expect(server.seen.map(({ method, url }) => `${method} ${url}`).toSorted()).toEqual([
    `GET /api/v1/namespaces/ns/pods/a:9090/proxy/stats/prometheus${filter}`,
    "GET /api/v1/namespaces/ns/pods/a:9903/proxy/discovery",
    `GET /api/v1/namespaces/ns/pods/agentless:9090/proxy/stats/prometheus${filter}`,
    `GET /api/v1/namespaces/ns/pods/b:9191/proxy/stats/prometheus${filter}`,
    "GET /api/v1/namespaces/ns/pods/b:9903/proxy/discovery",
  ]);
  expect(readings.get("ns/a")).toEqual({
    discovery: { type: "read", report: expect.objectContaining({ isActive: true, engines: 2 }) },
    load: { type: "read", engines: new Map([["adhoc", { queries: 3, queriesByName: 0, connections: 2 }]]) },
  });
  expect(readings.get("ns/agentless")?.discovery).toEqual({ type: "none" });
  expect([...readings.keys()].toSorted()).toEqual(["ns/a", "ns/agentless", "ns/b"]);
});

test("a pod without a port of that name has the default", () => {
  expect(gatewayTargets(pod("a", { containers: ["other"] })).load.port).toBe(9090);
});

const NOISE = "\u001b]0;owned\u0007".repeat(50);

test.each<[string, Script]>([
  ["you have no permission to get pods/proxy", (_, response) => apiStatus(response, 403, "Forbidden")],
  ["the pod does not exist any more", (_, response) => apiStatus(response, 404, "NotFound")],
  ["the pod does not respond", (_, response) => apiStatus(response, 503, "ServiceUnavailable")],
  ["the pod does not respond", (_, response) => void response.destroy()],
  ["the response is larger than 4 MiB", (_, response) => void response.end("x".repeat(4 * 1024 * 1024 + 1))],
])("the rest is shown, and of one pod: %s %#", async (cause, script) => {
  const { access } = await serve((request, response) =>
    request.url.includes("/pods/bad:") ? script(request, response) : respond(request, response),
  );
  const pods = [pod("bad"), pod("good")];
  const readings = await observeGateways(access, pods);
  expect(viewGateways(pods, readings).map((view) => [view.name, gatewayText(view)])).toEqual([
    ["bad", `state unknown: ${cause}`],
    ["good", "discovers endpoints of 2 engines"],
  ]);
});

test.each([
  [200, NOISE, "the response of the wake agent is not understood", "the response of Envoy is not understood"],
  [404, NOISE, "port 9903 responded with status 404", "port 9090 responded with status 404"],
  [500, "", "port 9903 responded with status 500", "port 9090 responded with status 500"],
])("a pod that responds with %i and something else: nothing of it is shown", async (status, body, agent, envoy) => {
  const { access } = await serve((_, response) => void response.writeHead(status).end(body));
  const readings = await observeGateways(access, [pod("a")]);
  expect(readings.get("ns/a")).toEqual({
    discovery: { type: "unknown", cause: agent },
    load: { type: "unknown", cause: envoy },
  });
});

test("a silent pod ends the reading after 5 s, whatever it has sent, and the others are known", async () => {
  const { server, clock, access } = await serve((request, response) => {
    if (!request.url.includes("/pods/silent:")) return respond(request, response);
    if (request.url.includes("/discovery")) response.write(DISCOVERY);
  });
  const result = observeGateways(access, [pod("silent"), pod("good")]);
  // Two of each pod, and the timers of those that hang.
  await expect.poll(() => server.seen.length === 4 && clock.pending).toBe(2);
  await clock.advance(5_000);
  const readings = await result;
  const late = { type: "unknown", cause: "no response within 5 s" };
  expect(readings.get("ns/silent")).toEqual({ discovery: late, load: late });
  expect(readings.get("ns/good")?.discovery.type).toBe("read");
});

test("many pods are read a few at a time, and all of them together within 5 s", async () => {
  const { server, clock, access } = await serve(() => undefined);
  const pods = Array.from({ length: 40 }, (_, index) => pod(`g-${index}`));
  const result = observeGateways(access, pods);
  await expect.poll(() => server.seen.length).toBe(24);
  await clock.advance(5_000);
  const readings = await result;
  expect(server.seen).toHaveLength(24);
  const causes = [...readings.values()].map(({ load }) => (load.type === "unknown" ? load.cause : "read"));
  expect(causes.filter((cause) => cause === "no response within 5 s")).toHaveLength(12);
  expect(causes.filter((cause) => cause === "not read within 5 s: other gateway pods took as long")).toHaveLength(28);
});

test("forty pods that respond are all read", async () => {
  const { access } = await serve(respond);
  const pods = Array.from({ length: 40 }, (_, index) => pod(`g-${index}`));
  const readings = await observeGateways(access, pods);
  expect([...readings.values()].map(({ load }) => load.type)).toEqual(pods.map(() => "read"));
});

test("Ctrl+C ends the reading", async () => {
  const { server, interrupt, access } = await serve(() => undefined);
  const result = observeGateways(access, [pod("a")]);
  const ended = expect(result).rejects.toThrow("interrupted");
  await expect.poll(() => server.seen.length).toBe(2);
  interrupt.abort(new Error("interrupted"));
  await ended;
});
