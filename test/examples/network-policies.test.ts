// The policies of examples/network-policies.yaml, against the table of flows in docs/security.md: needed flows are
// allowed, and others are denied.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readExampleFiles } from "../harness/fixtures/example-files.ts";
import { type End, isAllowed, isNetworkPolicy } from "./support/network-policies.ts";

const policies = readExampleFiles()
  .filter(({ file }) => file === "network-policies.yaml")
  .flatMap(({ objects }) => objects.filter(isNetworkPolicy));

const pod = (labels: Readonly<Record<string, string>>, namespace = "analytics"): End => ({
  type: "pod",
  namespace,
  labels,
});
const part = (component: string) => pod({ "firebolt.io/instance": "lakeside", "firebolt.io/component": component });
const engine = (name: string) => pod({ "firebolt.io/engine": name, "firebolt.io/generation": "0" });

const ENDS = {
  outside: { type: "outside" },
  client: pod({ app: "dashboard" }, "apps"),
  prometheus: pod({ app: "prometheus" }, "monitoring"),
  operator: pod({ "control-plane": "controller-manager" }, "firebolt-operator"),
  dns: pod({ "k8s-app": "kube-dns" }, "kube-system"),
  gateway: part("gateway"),
  metadata: part("metadata"),
  postgres: part("postgres"),
  engine: engine("adhoc"),
  peer: engine("adhoc"),
} as const satisfies Record<string, End>;
type Name = keyof typeof ENDS;

const allowed = (from: Name, to: Name, port: number, protocol: "TCP" | "UDP" = "TCP"): boolean =>
  isAllowed(policies, { from: ENDS[from], to: ENDS[to], port, protocol });

test("there are policies to check", () => {
  expect(policies.map(({ metadata }) => metadata.name)).toEqual([
    "deny-all",
    "dns",
    "gateway",
    "gateway-demand",
    "engines",
    "metadata",
    "postgres",
  ]);
});

type Needed = readonly [Name, Name, number];

/** The table of docs/security.md, row by row; empty where neither end is a pod of this namespace, or nodes are let through anyway. */
const NEEDED: Readonly<Record<string, readonly Needed[]>> = {
  "clients → gateway": [
    ["client", "gateway", 8080],
    ["outside", "gateway", 8080],
  ],
  "gateway → engines": [["gateway", "engine", 3473]],
  "engine → the other nodes of the same engine and generation": [
    ["engine", "peer", 5678],
    ["engine", "peer", 16_000],
    ["engine", "peer", 3434],
    ["engine", "peer", 1717],
    ["engine", "peer", 8122],
  ],
  "engine → metadata": [["engine", "metadata", 7000]],
  "metadata → PostgreSQL": [["metadata", "postgres", 5432]],
  "engine → object storage": [["engine", "outside", 443]],
  "wake agent, in gateway pods → API server": [
    ["gateway", "outside", 443],
    ["gateway", "outside", 6443],
  ],
  "API server, or with `PodIP` the operator → engines": [
    ["outside", "engine", 9090],
    ["operator", "engine", 9090],
  ],
  "API server, or with `PodIP` the operator → gateways": [
    ["outside", "gateway", 9903],
    ["operator", "gateway", 9903],
  ],
  "API server → operator": [],
  "operator → API server": [],
  "Prometheus → engines, gateways, wake agents, operator": [
    ["prometheus", "engine", 9090],
    ["prometheus", "gateway", 9090],
    ["prometheus", "gateway", 9903],
  ],
  "kubelet → all of them": [],
  "all → cluster DNS": [],
};

const rows = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8")
  .split("| From | To | Port |\n")[1]
  ?.split("\n\n")[0]
  ?.split("\n")
  .slice(1)
  .map((line) => line.split("|").map((cell) => cell.trim()));

test("every row of the documented table is tried, with its ports", () => {
  expect(rows?.map(([, from, to]) => `${from} → ${to}`)).toEqual(Object.keys(NEEDED));
  for (const [, from, to, ports = ""] of rows ?? []) {
    const tried = NEEDED[`${from} → ${to}`] ?? [];
    const documented = new Set(
      ports
        .replace(/\(Service: \d+\)/, "")
        .match(/\d+/g)
        ?.map(Number),
    );
    // The operator's own ports are in no pod of this namespace.
    const here = [...documented].filter((port) => port !== 8443);
    if (tried.length > 0) expect(new Set(tried.map(([, , port]) => port))).toEqual(new Set(here));
  }
});

describe("needed", () => {
  test.each(Object.values(NEEDED).flat())("%s → %s %i", (from, to, port) => {
    expect(allowed(from, to, port)).toBe(true);
  });

  test.each<Name>(["gateway", "metadata", "postgres", "engine"])("%s resolves names", (from) => {
    expect(allowed(from, "dns", 53, "UDP")).toBe(true);
    expect(allowed(from, "dns", 53)).toBe(true);
  });
});

describe("not needed", () => {
  test.each<readonly [Name, Name, number]>([
    ["client", "engine", 3473],
    ["client", "metadata", 7000],
    ["client", "postgres", 5432],
    ["client", "gateway", 9090],
    ["engine", "postgres", 5432],
    ["engine", "gateway", 8080],
    ["gateway", "metadata", 7000],
    ["gateway", "postgres", 5432],
    ["gateway", "engine", 5678],
    ["metadata", "engine", 3473],
    ["metadata", "outside", 443],
    ["postgres", "outside", 443],
    ["prometheus", "engine", 3473],
    ["operator", "metadata", 7000],
  ])("%s → %s %i", (from, to, port) => {
    expect(allowed(from, to, port)).toBe(false);
  });
});

test("without the policy for demand mode, nothing but Prometheus reaches the wake agent", () => {
  const others = policies.filter(({ metadata }) => metadata.name !== "gateway-demand");
  const reaches = (from: Name) => isAllowed(others, { from: ENDS[from], to: ENDS.gateway, port: 9903 });
  expect([reaches("prometheus"), reaches("client"), reaches("outside"), reaches("operator")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("without policies everything is open, and a policy closes only its own direction", () => {
  const flow = { from: ENDS.client, to: ENDS.postgres, port: 5432 };
  expect(isAllowed([], flow)).toBe(true);
  const closed = {
    metadata: { name: "p", namespace: "analytics" },
    spec: { podSelector: {}, policyTypes: ["Egress"] },
  } as const;
  expect(isAllowed([closed], flow)).toBe(true);
  expect(isAllowed([closed], { from: ENDS.postgres, to: ENDS.client, port: 1 })).toBe(false);
  expect(isAllowed([closed], { from: ENDS.client, to: ENDS.prometheus, port: 1 })).toBe(true);
});
