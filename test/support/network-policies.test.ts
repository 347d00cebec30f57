// The policies of examples/network-policies.yaml, against the table of flows in docs/security.md: what is needed is let through, and
// what is not is refused.
import { describe, expect, test } from "vitest";
import { readExampleFiles } from "./example-files.ts";
import { type End, isAllowed, isNetworkPolicy } from "./network-policies.ts";

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

test("there are policies to look at", () => {
  expect(policies.map(({ metadata }) => metadata.name)).toEqual([
    "deny-all",
    "dns",
    "gateway",
    "engines",
    "metadata",
    "postgres",
  ]);
});

describe("needed", () => {
  test.each<readonly [Name, Name, number]>([
    ["client", "gateway", 8080],
    ["outside", "gateway", 8080],
    ["gateway", "engine", 3473],
    ["engine", "peer", 5678],
    ["engine", "peer", 16_000],
    ["engine", "peer", 3434],
    ["engine", "peer", 1717],
    ["engine", "peer", 8122],
    ["engine", "metadata", 7000],
    ["metadata", "postgres", 5432],
    ["engine", "outside", 443],
    ["outside", "engine", 9090],
    ["operator", "engine", 9090],
    ["gateway", "outside", 443],
    ["gateway", "outside", 6443],
    ["prometheus", "engine", 9090],
    ["prometheus", "gateway", 9090],
    ["prometheus", "gateway", 9903],
  ])("%s → %s %i", (from, to, port) => {
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
    ["client", "gateway", 9903],
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
