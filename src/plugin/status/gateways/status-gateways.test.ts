// `status` with and without --gateways, with the real client and a server on loopback: which requests it makes and what
// it prints.
import { createKubeClient } from "@firebolt-operator/kube/client";
import { ManualClock, respondJson, type Script, startLoopback } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import type { V1Pod } from "../../../api/generated/kubernetes.ts";
import { parseCommandLine } from "../../command-line/command-line.ts";
import { COMMANDS, GROUPS } from "../../commands/command-table.ts";
import { createTerminal } from "../../terminal/terminal.ts";
import { runStatus } from "../status.ts";

const gatewayPod = (instance: string): V1Pod => ({
  metadata: {
    ...{ name: `${instance}-gateway-0`, namespace: "analytics", creationTimestamp: "2025-12-31T23:50:00Z" },
    labels: { "firebolt.io/instance": instance, "firebolt.io/component": "gateway" },
  },
  spec: { containers: ["envoy", "wake-agent"].map((name) => ({ name, image: "example.com/i:1" })) },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
});
const instance = (name: string) => ({
  metadata: { name, namespace: "analytics", creationTimestamp: "2025-12-31T23:50:00Z" },
  spec: { metadata: {}, gateway: {} },
  status: { phase: "Ready" },
});

const PAGES: readonly (readonly [RegExp, string])[] = [
  [/:9903\/proxy\/discovery$/, "firebolt_gateway_discovery_active 1\nfirebolt_gateway_discovery_engines 2\n"],
  [
    /:9090\/proxy\/stats\/prometheus\?/,
    [
      'envoy_cluster_upstream_rq_active{envoy_cluster_name="admin_stats"} 1',
      'envoy_cluster_upstream_rq_active{envoy_cluster_name="adhoc"} 3',
      'envoy_cluster_upstream_cx_active{envoy_cluster_name="adhoc"} 2',
      "",
    ].join("\n"),
  ],
];
const isGatewayList = (url: string): boolean =>
  /\/pods\?.*labelSelector=firebolt\.io%2F(?:instance|component)/.test(url);

const script: Script = ({ url }, response) => {
  // A watch without events.
  if (url.includes("watch=")) return void response.writeHead(200).flushHeaders();
  const page = PAGES.find(([pattern]) => pattern.test(url));
  if (page !== undefined) return void response.end(page[1]);
  if (/\/namespaces\/analytics$/.test(url)) return respondJson(response, 200, { metadata: { name: "analytics" } });
  if (/\/fireboltinstances\/lakeside$/.test(url)) return respondJson(response, 200, instance("lakeside"));
  const items = url.includes("/fireboltinstances?")
    ? [instance("lakeside"), instance("other")]
    : isGatewayList(url)
      ? [gatewayPod("lakeside"), gatewayPod("other")].filter(
          ({ metadata }) => !url.includes("%3Dlakeside") || metadata?.name?.startsWith("lakeside"),
        )
      : [];
  respondJson(response, 200, { metadata: { resourceVersion: "1" }, items });
};

interface Options {
  /** Ctrl+C as soon as this has been printed. */
  readonly until?: RegExp;
}

const status = (...argv: readonly string[]) => runWith({}, argv);

async function runWith({ until }: Options, argv: readonly string[]) {
  const parsed = parseCommandLine(COMMANDS, GROUPS, ["status", ...argv]);
  if (parsed.type !== "run") throw new Error(`${argv.join(" ")} is ${parsed.type}`);
  await using server = await startLoopback(script);
  const config = server.config();
  const clock = new ManualClock();
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const [out, err]: [string[], string[]] = [[], []];
  const write = (text: string): void => {
    out.push(text);
    if (until?.test(out.join(""))) interrupt.abort(new Error("interrupted"));
  };
  const code = await runStatus({
    ...{ args: parsed.args, flags: parsed.flags, commands: COMMANDS, env: {}, clock, signal },
    terminal: createTerminal({ write }, { write: (text) => err.push(text) }, {}),
    connect: async () => {
      const client = createKubeClient({ config });
      const call = { signal, timeoutMs: 30_000 };
      const dispose = { [Symbol.dispose]: () => client.close() };
      return { client, config, namespace: "analytics", clusterArgs: [], call, clock, ...dispose };
    },
  });
  expect([code, err]).toEqual([0, []]);
  return { text: out.join(""), requests: server.seen.map(({ method, url }) => `${method} ${url}`).toSorted() };
}

test("without the flag no pod is read, and nothing of gateways is shown", async () => {
  const plain = await status();
  expect(plain.requests.filter((request) => request.includes("/proxy"))).toEqual([]);
  expect(plain.text).toBe(
    [
      "NAME       STATE   READY   AGE   DETAIL",
      "lakeside   Ready   0/0     10m",
      "other      Ready   0/0     10m",
      "",
    ].join("\n"),
  );
  expect((await status("-o", "json")).text).not.toContain("gateways");
});

test("with the flag it makes the same requests, and two for every gateway pod", async () => {
  const [plain, shown] = [await status(), await status("--gateways")];
  const added = shown.requests.filter((request) => request.includes("/proxy"));
  expect(shown.requests.filter((request) => !request.includes("/proxy"))).toEqual(plain.requests);
  expect(added.map((request) => request.replace(/\?.*/, "?…"))).toEqual([
    "GET /api/v1/namespaces/analytics/pods/lakeside-gateway-0:9090/proxy/stats/prometheus?…",
    "GET /api/v1/namespaces/analytics/pods/lakeside-gateway-0:9903/proxy/discovery",
    "GET /api/v1/namespaces/analytics/pods/other-gateway-0:9090/proxy/stats/prometheus?…",
    "GET /api/v1/namespaces/analytics/pods/other-gateway-0:9903/proxy/discovery",
  ]);
  expect(shown.text).toBe(
    [
      "NAME                    STATE     READY   AGE   DETAIL",
      "lakeside                Ready     0/0     10m",
      "└─ lakeside-gateway-0   Running   yes     10m   discovers endpoints of 2 engines",
      "   └─ adhoc                                     3 queries on 2 connections",
      "other                   Ready     0/0     10m",
      "└─ other-gateway-0      Running   yes     10m   discovers endpoints of 2 engines",
      "   └─ adhoc                                     3 queries on 2 connections",
      "",
    ].join("\n"),
  );
});

test("only gateways of the named instance are read", async () => {
  const { requests, text } = await status("lakeside", "--gateways");
  expect(requests.filter((request) => request.includes("/proxy"))).toHaveLength(2);
  expect(text).not.toContain("other");
});

test("--watch shows them", async () => {
  const { text, requests } = await runWith({ until: /adhoc/ }, ["lakeside", "--gateways", "--watch"]);
  expect(text).toContain("3 queries on 2 connections");
  expect(requests.filter((request) => request.includes("/proxy"))).toHaveLength(2);
});

test("-o json has the same as data", async () => {
  const { text } = await status("lakeside", "--gateways", "-o", "json");
  expect(JSON.parse(text).instances[0].gateways).toMatchObject([
    {
      name: "lakeside-gateway-0",
      discovery: { type: "read", active: true, clusters: 2 },
      engines: [{ name: "adhoc", queries: 3, connections: 2 }],
    },
  ]);
});

test("--print-commands: the requests to the pods as kubectl makes them, and only with the flag", async () => {
  const plain = await status("lakeside", "--print-commands");
  expect(plain.requests).toEqual([]);
  expect(plain.text).not.toContain("--raw");
  const { text, requests } = await status("lakeside", "--gateways", "--print-commands", "--context", "prod");
  expect(requests).toHaveLength(1);
  expect(text.split("\n\n").slice(3).join("\n\n")).toBe(
    [
      "# discovery state of gateway pod lakeside-gateway-0",
      "kubectl --context=prod get --raw /api/v1/namespaces/analytics/pods/lakeside-gateway-0:9903/proxy/discovery",
      "",
      "# queries and connections of gateway pod lakeside-gateway-0",
      "kubectl --context=prod get --raw '/api/v1/namespaces/analytics/pods/lakeside-gateway-0:9090/proxy/stats/prometheus?usedonly&filter=%5Ecluster%5B.%5D.%2B%5B.%5Dupstream_(rq%7Ccx)_active%24'",
      "",
    ].join("\n"),
  );
});
