// Envoy's gauges per engine: which of them are requested, and which lines of the response count.
import fc from "fast-check";
import { expect, test } from "vitest";
import { ENGINE_LOAD_PATH, parseEngineLoad } from "./engine-load.ts";

/** The request itself, in every response of Envoy's. */
const OWN = 'envoy_cluster_upstream_rq_active{envoy_cluster_name="admin_stats"} 1';
const body = (...lines: readonly string[]): string =>
  ["# TYPE envoy_cluster_upstream_rq_active gauge", OWN, ...lines, ""].join("\n");
const gauge = (what: "rq" | "cx", cluster: string, value: number | string): string =>
  `envoy_cluster_upstream_${what}_active{envoy_cluster_name="${cluster}"} ${value}`;
const named = (what: "rq" | "cx", engine: string, value: number): string =>
  `envoy_cluster_my_namespace_svc_cluster_local_3473_upstream_${what}_active{envoy_cluster_name="DFPCluster_${engine}-service"} ${value}`;

test("the path selects two gauges of every cluster by Envoy's own names", () => {
  const [path, query] = ENGINE_LOAD_PATH.split("?");
  expect(path).toBe("/stats/prometheus");
  const parameters = new URLSearchParams(query);
  expect(parameters.has("usedonly")).toBe(true);
  const filter = new RegExp(parameters.get("filter") ?? "");
  const selected = [
    "cluster.adhoc.upstream_rq_active",
    "cluster.adhoc.upstream_cx_active",
    "cluster.DFPCluster_adhoc-service.ns.svc.cluster.local_3473.upstream_rq_active",
    "cluster.adhoc.upstream_rq_pending_active",
    "cluster.adhoc.upstream_rq_total",
    "http.gateway.downstream_rq_active",
  ].filter((name) => filter.test(name));
  expect(selected).toHaveLength(3);
});

test("queries and connections of an engine, published, by name, and both", () => {
  const text = body(
    ...[gauge("rq", "adhoc", 3), gauge("cx", "adhoc", 2)],
    ...[named("rq", "late", 2), named("cx", "late", 2)],
    ...[gauge("rq", "both", 1), named("rq", "both", 4), gauge("cx", "both", 1), named("cx", "both", 4)],
    gauge("cx", "idle", 0),
  );
  expect(parseEngineLoad(text)).toEqual(
    new Map([
      ["adhoc", { queries: 3, queriesByName: 0, connections: 2 }],
      ["both", { queries: 5, queriesByName: 4, connections: 5 }],
      ["idle", { queries: 0, queriesByName: 0, connections: 0 }],
      ["late", { queries: 2, queriesByName: 2, connections: 2 }],
    ]),
  );
});

test("an engine whose name looks like a part of the others", () => {
  const text = body(named("rq", "a-service", 1), gauge("rq", "b-service", 2), gauge("rq", "svc", 3));
  expect([...(parseEngineLoad(text) ?? [])].map(([engine, { queries }]) => [engine, queries])).toEqual([
    ["b-service", 2],
    ["svc", 3],
    ["a-service", 1],
  ]);
});

test("clusters that are no engines do not count", () => {
  const others = [
    "wake_agent",
    "wake_discovery",
    "dynamic_forward_proxy",
    "Adhoc",
    "a.b",
    "a\u001b[31mb",
    "a".repeat(64),
  ];
  expect(parseEngineLoad(body(...others.map((cluster) => gauge("rq", cluster, 1))))).toEqual(new Map());
});

test.each(["1.5", "-1", "NaN", "1e3", "9".repeat(400), "1 1700000000"])("%s is no count", (value) => {
  expect(parseEngineLoad(body(gauge("rq", "adhoc", value)))).toEqual(new Map());
});

test.each([
  ["nothing", ""],
  ["an engine's metrics", "firebolt_running_queries 1\n"],
  ["HTML", "<html></html>"],
  ["a part without the request itself", `${gauge("rq", "adhoc", 1)}\n`],
])("no response of Envoy's: %s", (_, text) => expect(parseEngineLoad(text)).toBeUndefined());

test("four megabytes of anything are read at once", () => {
  const rows = `envoy_cluster_${"a_".repeat(31)}svc_cluster_local_`.repeat(50_000);
  expect(parseEngineLoad(body(gauge("rq", "adhoc", 1), rows))?.size).toBe(1);
});

test("any change of a response gives names of the known form, or none", () => {
  const text = body(gauge("rq", "adhoc", 3), named("cx", "late", 2));
  fc.assert(
    fc.property(fc.nat(text.length), fc.string({ unit: "binary", maxLength: 20 }), (at, part) => {
      const loads = parseEngineLoad(text.slice(0, at) + part + text.slice(at));
      for (const engine of loads?.keys() ?? []) expect(engine).toMatch(/^[a-z0-9-]{1,63}$/);
    }),
  );
});
