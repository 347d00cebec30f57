// Engines as clusters that the agent publishes, in the real Envoy: connections are kept, a switch reaches Envoy at once, no client
// reaches a cluster of its own choice, and without the agent names are resolved as ever.
import { afterEach, expect, test } from "vitest";
import { STATIC_CLUSTERS, WAKE_HEADERS } from "../../src/api/wake-protocol.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type BriefPod, startBriefPod } from "./support/brief-pods.ts";
import { type DiscoveryHarness, openDiscoveryHarness } from "./support/discovery-harness.ts";
import { serviceHost } from "./support/gateway-harness.ts";

let harness: DiscoveryHarness;
const ended: BriefPod[] = [];

afterEach(async () => {
  await harness?.[Symbol.asyncDispose]();
  await Promise.all(ended.splice(0).map((pod) => pod.end()));
});

async function start(engine: string, generation: number, count = 1): Promise<readonly BriefPod[]> {
  const pods = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startBriefPod(`${engine}-g${generation}-${index}`, harness.nextAddress()),
    ),
  );
  ended.push(...pods);
  return pods;
}

const clusterOf = async (label: string): Promise<string> =>
  / cluster=(\S+) /.exec(await harness.envoy.logged(`query_label=${label} `))?.[1] ?? "";

test("the first query of an engine goes to its own cluster, with the host and path that engines get, and connections are kept", async () => {
  harness = await openDiscoveryHarness({ concurrency: 1 });
  const [pod] = await start("hot", 0);
  if (pod === undefined) throw new Error("no pod");
  harness.publishToAgent("hot", [pod]);
  await eventually(() => harness.discovery().connected);
  for (let count = 0; count < 20; count++) {
    const answer = await harness.client.query({ engine: "hot", path: `/?a=b&query_label=q${count}` });
    expect(answer.value).toBe("hot-g0-0");
  }
  expect(pod.last()).toMatchObject({ host: `${serviceHost("hot")}:3473`, path: "/?a=b&query_label=q19" });
  expect(pod.last().headers[WAKE_HEADERS.engine]).toBe("hot");
  expect([await clusterOf("q0"), await clusterOf("q19")]).toEqual(["hot", "hot"]);
  expect(await harness.envoy.statistic("cluster.hot.upstream_cx_total")).toBe(1);
  // Names in parameters and names that the worker knows take other ways through the script.
  for (const path of ["/?engine=hot&x=1", "/?x=1&engine=hot", "/?x=%41"])
    await harness.client.query({ ...(path.includes("engine") ? {} : { engine: "hot" }), path });
  expect(pod.last().path).toBe("/?x=%41");
  expect(harness.dns.asked(serviceHost("hot"))).toBe(0);
  const dump = await harness.envoy.admin("/config_dump?resource=dynamic_active_clusters");
  expect(JSON.parse(dump).configs[0].cluster).toMatchObject({
    name: "hot",
    type: "EDS",
    eds_cluster_config: { eds_config: { ads: {}, resource_api_version: "V3" } },
    connect_timeout: "1s",
    per_connection_buffer_limit_bytes: 2_097_152,
    circuit_breakers: {
      thresholds: [{ max_connections: 2_048, max_pending_requests: 1_024, max_requests: 1_024, max_retries: 1_024 }],
    },
    upstream_connection_options: {
      tcp_keepalive: { keepalive_probes: 3, keepalive_time: 30, keepalive_interval: 10 },
    },
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        common_http_protocol_options: { idle_timeout: "3s" },
        explicit_http_config: { http_protocol_options: {} },
      },
    },
  });
});

test("Envoy closes an idle connection after three seconds, before any engine does", async () => {
  harness = await openDiscoveryHarness({ concurrency: 1 });
  const [pod] = await start("idle", 0);
  if (pod === undefined) throw new Error("no pod");
  harness.publishToAgent("idle", [pod]);
  await eventually(() => harness.discovery().connected);
  await harness.client.query({ engine: "idle" });
  expect(pod.connections()).toBe(1);
  const idleSince = performance.now();
  await eventually(() => pod.connections() === 0);
  expect(performance.now() - idleSince).toBeGreaterThan(2_500);
  expect(performance.now() - idleSince).toBeLessThan(10_000);
});

test("cluster-only-by-script: a client that sets the private header reaches the engine it names, and nothing else", async () => {
  harness = await openDiscoveryHarness();
  const [pod] = await start("mine", 0);
  if (pod === undefined) throw new Error("no pod");
  harness.publish("mine", [pod]);
  await eventually(() => harness.discovery().connected);
  for (const cluster of [...Object.values(STATIC_CLUSTERS), "other", ""]) {
    const headers = { [WAKE_HEADERS.cluster]: cluster };
    expect((await harness.client.query({ engine: "mine", headers })).value).toBe("mine-g0-0");
    expect(pod.last().headers[WAKE_HEADERS.cluster]).toBe("mine");
    for (const engine of [undefined, cluster]) {
      const answer = await harness.client.send({ engine, headers, path: "/stats/prometheus", method: "GET" });
      expect([400, 404]).toContain(answer.status);
      expect(answer.text).not.toContain("envoy_");
    }
  }
  const twice = {
    "X-Firebolt-Engine": ["mine", STATIC_CLUSTERS.admin],
    [WAKE_HEADERS.cluster]: ["mine", "admin_stats"],
  };
  const answer = await harness.client.send({ headers: twice, path: "/stats/prometheus", method: "GET" });
  expect([answer.status, answer.text]).toEqual([400, "invalid X-Firebolt-Engine header"]);
});

test("without an agent Envoy starts, and resolves names; with one it goes over to the published endpoints", async () => {
  harness = await openDiscoveryHarness({ startAgent: false, concurrency: 1 });
  const [pod] = await start("late", 0);
  if (pod === undefined) throw new Error("no pod");
  harness.publish("late", [pod]);
  await harness.client.query({ engine: "late", path: "/?query_label=alone" });
  expect(await clusterOf("alone")).toBe(STATIC_CLUSTERS.engines);
  expect(pod.last().host).toBe(`${serviceHost("late")}:3473`);
  await harness.startAgent();
  let count = 0;
  await eventually(async () => {
    await harness.client.query({ engine: "late", path: `/?query_label=with${++count}` });
    return (await clusterOf(`with${count}`)) === "late";
  });
  await harness.stopAgent();
  await eventually(async () => {
    await harness.client.query({ engine: "late", path: `/?query_label=without${++count}` });
    return (await clusterOf(`without${count}`)) === STATIC_CLUSTERS.engines;
  });
  expect(harness.client.failed).toBe(0);
  expect(await harness.envoy.admin("/stats?filter=route.by_name")).toMatch(/upstream_rq_total: [1-9]/);
});

test("a restarted agent removes what was deleted meanwhile from Envoy, and keeps the rest", async () => {
  harness = await openDiscoveryHarness({ concurrency: 1 });
  const [stays, goes] = [await start("stays", 0), await start("goes", 0)];
  harness.publish("stays", stays);
  harness.publish("goes", goes);
  await eventually(() => harness.discovery().connected);
  for (const engine of ["stays", "goes"]) await harness.client.query({ engine });
  await harness.stopAgent();
  harness.publish("goes", undefined);
  await harness.startAgent();
  await eventually(async () => {
    const clusters = await harness.envoy.admin("/config_dump?resource=dynamic_active_clusters");
    return clusters.includes('"stays"') && !clusters.includes('"goes"');
  });
  await eventually(async () => (await harness.client.send({ engine: "goes" })).status === 404);
  await eventually(async () => (await harness.client.query({ engine: "stays" })).status === 200);
  expect(await harness.envoy.statistic("control_plane.connected_state")).toBe(1);
  expect(await harness.envoy.statistic("cluster_manager.cds.update_rejected")).toBe(0);
});

test("300 new engines, three first queries at once each: every one is answered", async () => {
  harness = await openDiscoveryHarness();
  const [pod] = await start("shared", 0);
  if (pod === undefined) throw new Error("no pod");
  const names = Array.from({ length: 300 }, (_, index) => `new-${index}`);
  // To the name server too: on a busy machine some of the first queries do not wait for Envoy's acknowledgement.
  for (const name of names) harness.publish(name, [{ pod: `${name}-g0-0`, address: pod.address }]);
  await eventually(() => harness.discovery().connected);
  await Promise.all(names.flatMap((engine) => [1, 2, 3].map(() => harness.client.query({ engine }))));
  expect(harness.client.failed).toBe(0);
  expect(harness.discovery().engines).toHaveLength(300);
});
