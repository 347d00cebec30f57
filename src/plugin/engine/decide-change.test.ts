// What each command does to an engine, as a patch.
import { expect, test } from "vitest";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { resolvePolicy } from "../../engine/auto-stop/policy.ts";
import {
  type ChangeFacts,
  decideRestart,
  decideScale,
  decideStart,
  decideStop,
  decideWake,
  type KnownPolicy,
} from "./decide-change.ts";

const NOW = Date.parse("2026-01-01T08:00:00Z");
const STAMP = "firebolt.io/wake-requested";
const policy = resolvePolicy(
  { enabled: true, activeReplicas: 3, idleReplicas: 0, idleTimeout: "30m", pollInterval: "1m" },
  undefined,
);
if (policy === undefined) throw new Error("the policy is switched on");
const ON: KnownPolicy = { type: "on", policy };
const OFF: KnownPolicy = { type: "off" };
const UNKNOWN: KnownPolicy = { type: "unknown", engineClass: "large" };

const facts = (
  replicas: number,
  { annotations = {}, ...rest }: Partial<ChangeFacts> & { annotations?: Record<string, string> } = {},
): ChangeFacts => {
  const engine: FireboltEngine = {
    apiVersion: "compute.firebolt.io/v1alpha1",
    kind: "FireboltEngine",
    metadata: { name: "e", annotations },
    spec: { instanceRef: "i", replicas, storage: {} },
  };
  const where = { namespace: "ns", clusterArgs: ["--context=prod"] };
  return { engine, policy: OFF, wanted: undefined, where, nowMs: NOW, ...rest };
};

test("stop withdraws a wake request in the same patch", () => {
  expect(decideStop(facts(1))).toMatchObject({
    patch: {
      metadata: { annotations: { "kubectl.firebolt.io/replicas-before-stop": "1", [STAMP]: null } },
      spec: { replicas: 0 },
    },
    done: "stopped (it had 1 replica)",
    until: "stopped",
  });
});

test("scaling to 0 withdraws it too, and scaling to more does not", () => {
  expect(decideScale(facts(2, { wanted: 0 }))).toMatchObject({
    patch: { metadata: { annotations: { [STAMP]: null } }, spec: { replicas: 0 } },
    until: "stopped",
  });
  expect(decideScale(facts(2, { wanted: 1 }))).toMatchObject({
    patch: { spec: { replicas: 1 } },
    done: "scaled from 2 to 1 replica",
  });
  expect(decideScale(facts(2, { wanted: 1 }))).not.toHaveProperty("patch.metadata");
});

test.each([
  { name: "a fresh request", stamp: "2026-01-01T07:59:00Z", want: { type: "patch", changesSpec: false } },
  { name: "one that has lapsed", stamp: "2026-01-01T07:00:00Z", want: { type: "nothing" } },
])("an engine that is stopped already, with $name", ({ stamp, want }) => {
  expect(decideStop(facts(0, { annotations: { [STAMP]: stamp } }))).toMatchObject(want);
});

test.each([
  { name: "as many as before", annotations: { "kubectl.firebolt.io/replicas-before-stop": "4" }, replicas: 4 },
  { name: "as many as auto-stop keeps", policy: ON, replicas: 3 },
  { name: "one", policy: OFF, replicas: 1 },
  { name: "one, with a warning, where the class may not be read", policy: UNKNOWN, replicas: 1, warns: 1 },
  { name: "what the flag says", policy: UNKNOWN, wanted: 2, replicas: 2 },
])("start: $name", ({ replicas, warns = 0, ...given }) => {
  const change = decideStart(facts(0, given));
  expect(change).toMatchObject({ type: "patch", patch: { spec: { replicas } } });
  if (given.policy !== ON && change.type === "patch") expect(change.warnings).toHaveLength(warns);
});

test.each([
  { name: "restart of a stopped engine", change: decideRestart(facts(0)), exit: "notYet" },
  { name: "wake without auto-stop", change: decideWake(facts(0)), exit: "refused" },
])("$name is rejected with the command that works", ({ change, exit }) => {
  expect(change).toMatchObject({
    type: "refused",
    exit,
    because: expect.stringMatching(/kubectl firebolt engine start e -n ns --context=prod$/),
  });
});

test("wake continues with a warning if the class may not be read", () => {
  expect(decideWake(facts(0, { policy: UNKNOWN }))).toMatchObject({
    type: "patch",
    until: "serving",
    warnings: [expect.stringContaining("you have no permission to read class large")],
  });
});

test("the wake request is later than the last scaling, even if this machine's clock is behind", () => {
  const { engine, ...rest } = facts(0, { policy: ON });
  const status = { currentGeneration: 0, activeGeneration: 0, lastScaledAt: "2026-01-01T08:00:20Z" };
  const change = decideWake({ ...rest, engine: { ...engine, status } });
  expect(change).toMatchObject({ patch: { metadata: { annotations: { [STAMP]: "2026-01-01T08:00:21Z" } } } });
});
