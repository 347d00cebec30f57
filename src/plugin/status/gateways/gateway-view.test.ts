// What gateway pods reported, as data and as lines of the tree.
import { expect, test } from "vitest";
import type { FireboltInstance } from "../../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../../api/generated/kubernetes.ts";
import { LABEL } from "../../../api/labels.ts";
import type { GatewayReport } from "../../../engine/gateways/parse-discovery.ts";
import { PLAIN } from "../../terminal/style.ts";
import { viewPlatform } from "../platform-view.ts";
import { renderTree } from "../render-tree.ts";
import { engineLoadText, gatewayText, viewGateways } from "./gateway-view.ts";
import type { GatewayReading } from "./observe-gateways.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");
const FORBIDDEN = { type: "unknown", cause: "you have no permission to get pods/proxy" } as const;

const instance: FireboltInstance = {
  metadata: { name: "lakeside", namespace: "ns" },
  spec: { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, metadataNG: false },
  status: { phase: "Ready" },
};

const pod = (name: string, status: V1Pod["status"] = {}, metadata: V1Pod["metadata"] = {}): V1Pod => ({
  metadata: {
    ...{ name, namespace: "ns", creationTimestamp: "2026-01-01T00:00:00Z" },
    labels: { [LABEL.instance]: "lakeside", [LABEL.component]: "gateway" },
    ...metadata,
  },
  spec: { containers: [] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...status },
});

function report(changes: Partial<GatewayReport> = {}): GatewayReading["discovery"] {
  return {
    type: "read",
    report: {
      ...{ isActive: true, isConnected: true, engines: 2, rejected: 0, queriesByName: 0 },
      ...{ generations: new Map(), pending: new Set() },
      ...changes,
    },
  };
}

function load(engines: Readonly<Record<string, readonly [number, number, number?]>> = {}): GatewayReading["load"] {
  const rows = Object.entries(engines).map(([name, [queries, connections, queriesByName = 0]]) => {
    return [name, { queries, connections, queriesByName }] as const;
  });
  return { type: "read", engines: new Map(rows) };
}

const textOf = (discovery: GatewayReading["discovery"], loads: GatewayReading["load"] = load()): string => {
  const [view] = viewGateways([pod("g")], new Map([["ns/g", { discovery, load: loads }]]));
  return view === undefined ? "" : gatewayText(view);
};
const enginesOf = (reading: Partial<GatewayReading>): readonly string[] => {
  const whole = { discovery: report(), load: load(), ...reading };
  const [view] = viewGateways([pod("g")], new Map([["ns/g", whole]]));
  return (view?.engines ?? []).map((engine) => `${engine.name}: ${engineLoadText(engine)}`);
};

test.each<[string, GatewayReading["discovery"]]>([
  ["discovers endpoints of 2 engines", report()],
  ["discovers endpoints of 1 engine", report({ engines: 1 })],
  ["discovers endpoints", report({ engines: undefined, queriesByName: undefined, rejected: undefined })],
  ["discovers endpoints of 2 engines, 14 queries by name", report({ queriesByName: 14 })],
  [
    "discovers endpoints of 2 engines, 1 query by name, Envoy rejected 1 resource",
    report({ queriesByName: 1, rejected: 1 }),
  ],
  ["resolves engines by name: the discovery stream is closed", report({ isActive: false, isConnected: false })],
  [
    "may resolve engines by name: it did less than 30 s ago or its agent is not up to date, 2 queries by name",
    report({ isActive: false, queriesByName: 2 }),
  ],
  ["no wake agent: engines are resolved by name", { type: "none" }],
])("%s", (text, discovery) => expect(textOf(discovery)).toBe(text));

test("a cause is given once, and two causes both", () => {
  expect(textOf(FORBIDDEN, FORBIDDEN)).toBe("state unknown: you have no permission to get pods/proxy");
  expect(textOf(FORBIDDEN)).toBe("state unknown: you have no permission to get pods/proxy");
  const large = { type: "unknown", cause: "the response is larger than 4 MiB" } as const;
  expect(textOf(FORBIDDEN, large)).toBe(
    "state unknown: you have no permission to get pods/proxy, queries and connections unknown: the response is larger than 4 MiB",
  );
  expect(textOf(report(), large)).toBe(
    "discovers endpoints of 2 engines, queries and connections unknown: the response is larger than 4 MiB",
  );
});

test("an engine is shown for its queries, its connections, its endpoints or what is pending", () => {
  const generations = new Map([
    ["adhoc", new Map([[4, 2]])],
    ["quiet", new Map([[0, 1]])],
    [
      "switching",
      new Map([
        [4, 1],
        [3, 2],
      ]),
    ],
    ["odd", new Map([[-1, 1]])],
  ]);
  expect(
    enginesOf({
      discovery: report({ generations, pending: new Set(["switching", "empty"]) }),
      load: load({ adhoc: [3, 2], e2: [1, 1, 1], e10: [5, 5, 2], idle: [0, 1], gone: [0, 0] }),
    }),
  ).toEqual([
    "adhoc: 3 queries on 2 connections, generation 4",
    "e2: 1 query by name on 1 connection",
    "e10: 5 queries (2 by name) on 5 connections",
    "empty: no queries, new endpoints not accepted yet",
    "idle: 0 queries on 1 connection",
    "odd: no queries, generation unknown",
    "quiet: no queries, generation 0",
    "switching: no queries, generations 3 and 4, new endpoints not accepted yet",
  ]);
});

test("what is unknown is not zero", () => {
  const generations = new Map([["adhoc", new Map([[4, 2]])]]);
  expect(enginesOf({ discovery: report({ generations }), load: FORBIDDEN })).toEqual(["adhoc: generation 4"]);
  expect(enginesOf({ discovery: FORBIDDEN, load: load({ adhoc: [3, 2] }) })).toEqual([
    "adhoc: 3 queries on 2 connections",
  ]);
  expect(enginesOf({ discovery: FORBIDDEN, load: FORBIDDEN })).toEqual([]);
});

const observed = {
  ...{ nowMs: NOW_MS, instances: [instance], engines: [], services: [], enginePods: [], queries: new Map() },
  ...{ deployments: [], statefulSets: [] },
};

test("the tree has gateway pods below their instance, and their engines below them", () => {
  const metadataPod = pod("lakeside-metadata", {}, { labels: { [LABEL.instance]: "lakeside" } });
  const others = { labels: { [LABEL.instance]: "other", [LABEL.component]: "gateway" } };
  const view = viewPlatform({
    ...observed,
    instancePods: [
      ...[pod("g-b", { phase: "Pending", conditions: [] }), pod("g-a"), pod("g-over", { phase: "Failed" })],
      pod("g-c", {}, { deletionTimestamp: "2026-01-01T00:09:00Z" }),
      ...[metadataPod, pod("elsewhere", {}, others)],
    ],
    gateways: new Map<string, GatewayReading>([
      [
        "ns/g-a",
        { discovery: report({ generations: new Map([["adhoc", new Map([[4, 2]])]]) }), load: load({ adhoc: [3, 2] }) },
      ],
      ["ns/g-c", { discovery: { type: "none" }, load: load({ late: [1, 1, 1] }) }],
    ]),
  });
  const tree = renderTree(view, { style: PLAIN, nowMs: NOW_MS, showNamespace: false, showPods: false });
  expect(tree).toBe(
    [
      "NAME          STATE         READY   AGE   DETAIL",
      "lakeside      Ready         0/0",
      "├─ g-a        Running       yes     10m   discovers endpoints of 2 engines",
      "│  └─ adhoc                               3 queries on 2 connections, generation 4",
      "├─ g-b        Pending       no      10m   state unknown: the pod does not run",
      "└─ g-c        Terminating   no      10m   no wake agent: engines are resolved by name",
      "   └─ late                                1 query by name on 1 connection",
      "",
    ].join("\n"),
  );
});

test("more engines than a call can have arguments are shown", () => {
  const engines = Object.fromEntries(Array.from({ length: 130_000 }, (_, index) => [`e${index}`, [1, 1] as const]));
  const gateways = new Map([["ns/g", { discovery: report(), load: load(engines) }]]);
  const view = viewPlatform({ ...observed, instancePods: [pod("g")], gateways });
  const tree = renderTree(view, { style: PLAIN, nowMs: NOW_MS, showNamespace: false, showPods: false });
  expect(tree.split("\n")).toHaveLength(130_000 + 4);
});

test("the data is complete, and absent where gateways were not read", () => {
  const generations = new Map([["adhoc", new Map([[4, 2]])]]);
  const gateways = new Map<string, GatewayReading>([
    ["ns/g", { discovery: report({ generations, queriesByName: 1 }), load: load({ adhoc: [3, 2] }) }],
  ]);
  const view = viewPlatform({ ...observed, instancePods: [pod("g")], gateways });
  expect(JSON.parse(JSON.stringify(view)).instances[0].gateways).toEqual([
    {
      name: "g",
      phase: "Running",
      ready: true,
      createdAt: "2026-01-01T00:00:00Z",
      discovery: { type: "read", active: true, connected: true, clusters: 2, rejected: 0, queriesByName: 1 },
      load: { type: "read" },
      engines: [
        {
          name: "adhoc",
          queries: 3,
          queriesByName: 0,
          connections: 2,
          generations: [{ generation: 4, endpoints: 2 }],
          pending: false,
        },
      ],
    },
  ]);
  const without = viewPlatform({ ...observed, instancePods: [pod("g")] });
  expect(without.instances.map((one) => Object.keys(one).includes("gateways"))).toEqual([false]);
});
