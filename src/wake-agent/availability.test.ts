import { expect, test } from "vitest";
import { availabilityOf, isWakeable } from "./availability.ts";
import { generationOfPod, trimEngine, trimSlice, type WatchedEngine } from "./kinds.ts";

const engine = (replicas: number, phase: string, activeGeneration = 0): WatchedEngine => ({
  spec: { replicas },
  status: { phase, activeGeneration },
});

test.each([
  ["nobody", undefined, [], "unknown"],
  ["a Service without an engine", undefined, ["e-g0-0"], "ready"],
  ["running", engine(1, "stable"), ["e-g0-0"], "ready"],
  ["rolling, served by either generation", engine(1, "switching"), ["e-g0-0", "e-g1-0"], "ready"],
  ["endpoints-lost-for-a-moment: running, all endpoints lost", engine(1, "stable"), [], "unavailable"],
  ["stopped", engine(0, "stopped", 1), [], "unavailable"],
  ["asked to stop, nothing has happened yet", engine(0, "stable"), ["e-g0-0"], "stopping"],
  ["asked to stop, the empty generation is being made", engine(0, "creating"), ["e-g0-0"], "stopping"],
  ["the Service is about to be taken away", engine(0, "switching"), ["e-g0-0"], "unavailable"],
  ["it has been, the endpoints do not show it yet", engine(0, "draining", 1), ["e-g0-0"], "unavailable"],
  ["asked to stop while another rollout drains", engine(0, "draining", 1), ["e-g1-0"], "stopping"],
  ["an engine that nobody has looked at yet", { spec: { replicas: 1 } }, [], "unavailable"],
] as const)("%s", (_, found, pods, want) => {
  expect(availabilityOf(found, pods)).toBe(want);
});

test("only an engine with zero replicas and auto-stop can be woken", () => {
  expect(isWakeable({ spec: { replicas: 0 } })).toBe(true);
  expect(isWakeable({ spec: { replicas: 0 }, status: { activeGeneration: 0, autoStopReason: "Stopped" } })).toBe(true);
  expect(isWakeable({ spec: { replicas: 0 }, status: { activeGeneration: 0, autoStopReason: "Disabled" } })).toBe(
    false,
  );
  expect(isWakeable({ spec: { replicas: 1 } })).toBe(false);
  expect(isWakeable(undefined)).toBe(false);
});

test("a slice keeps the pods and addresses of its ready endpoints", () => {
  const metadata = {
    name: "s",
    namespace: "ns",
    uid: "u",
    labels: { "kubernetes.io/service-name": "e-service", x: "y" },
  };
  const pod = (name: string, ready?: boolean) => ({
    addresses: ["10.0.0.1"],
    targetRef: { name, kind: "Pod" },
    conditions: ready === undefined ? {} : { ready },
  });
  const endpoints = [pod("e-g1-0", true), pod("e-g1-1"), pod("e-g2-0", false), pod("e-g3-0", true)];
  expect(trimSlice({ metadata, endpoints })).toEqual({
    metadata: { name: "s", namespace: "ns", uid: "u", labels: { "kubernetes.io/service-name": "e-service" } },
    endpoints: ["e-g1-0", "e-g1-1", "e-g3-0"].map((name) => ({ targetRef: { name }, addresses: ["10.0.0.1"] })),
  });
  const other = { ...metadata, labels: { "kubernetes.io/service-name": "e-g1-hl" } };
  expect(trimSlice({ metadata: other, endpoints })).not.toHaveProperty("endpoints");
});

test("an engine keeps only the fields that the agent reads", () => {
  const stored = {
    metadata: {
      name: "e",
      namespace: "ns",
      annotations: { a: "b", "firebolt.io/wake-requested": "t" },
      labels: { x: "y" },
    },
    spec: { replicas: 0, template: {}, instanceRef: "main" },
    status: { phase: "stopped", activeGeneration: 3, currentGeneration: 3, lastScaledAt: "s", conditions: [] },
  };
  expect(trimEngine(stored)).toEqual({
    metadata: { name: "e", namespace: "ns", annotations: { "firebolt.io/wake-requested": "t" } },
    spec: { replicas: 0 },
    status: { phase: "stopped", activeGeneration: 3, lastScaledAt: "s" },
  });
});

test("the generation is part of a pod's name", () => {
  expect(generationOfPod("my-g2-engine-g17-3")).toBe(17);
  expect(generationOfPod("somebody-else")).toBeUndefined();
});
