import { silentLogger } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { FakeEngineStore } from "../../../test/engine/support/fake-engine-store.ts";
import {
  EARLIER,
  engine,
  instanceReady,
  liveSet,
  NOT_READY,
  NOW,
  snapshot,
} from "../../../test/engine/support/fixtures.ts";
import { findCondition } from "../../api/condition-list.ts";
import type { EngineStatus } from "../../api/firebolt-engine/status.ts";
import { warningOf } from "../cluster/statefulset-warning.ts";
import type { EngineSnapshot, StatefulSetWarning } from "../model/snapshot.ts";
import { observeFindings } from "../pass/observe-findings.ts";
import { computeEngine } from "./compute-engine.ts";

const NO_PODS = { wanted: 2, total: 0, ready: 0, allReady: false };
const quota = { reason: "FailedCreate", message: "exceeded quota", count: 1, lastSeenMs: 1 };

async function ready(
  warnings: readonly StatefulSetWarning[],
  changes: Partial<EngineSnapshot> = {},
  phase = "creating",
) {
  const world = new FakeEngineStore();
  world.warnings = [...warnings];
  const status = {
    phase,
    currentGeneration: 1,
    activeGeneration: phase === "creating" ? 0 : 1,
    conditions: [instanceReady],
  };
  const s = snapshot(engine({ status }), { pods: NO_PODS, ...changes });
  const decision = computeEngine({
    ...s,
    findings: await observeFindings(s, { cluster: world, logger: silentLogger }),
  });
  const found =
    decision.type === "broken" ? undefined : decision.status.conditions?.find(({ type }) => type === "Ready");
  return { reason: found?.reason, message: found?.message, requests: world.requests };
}

test.each([
  ["pods-cannot-be-created: the reason is taken over", [quota], "FailedCreate", "StatefulSet e-g1: exceeded quota"],
  ["the count is shown", [{ ...quota, count: 7 }], "FailedCreate", "StatefulSet e-g1: exceeded quota (x7)"],
  [
    "the newest wins",
    [quota, { ...quota, reason: "Newer", lastSeenMs: 5 }],
    "Newer",
    "StatefulSet e-g1: exceeded quota",
  ],
  [
    "empty messages are skipped",
    [{ ...quota, message: " ", lastSeenMs: 9 }, quota],
    "FailedCreate",
    "StatefulSet e-g1: exceeded quota",
  ],
  [
    "a reason that cannot stand in a condition",
    [{ ...quota, reason: "no good" }],
    "StatefulSetWarning",
    "StatefulSet e-g1: exceeded quota",
  ],
  ["an empty reason", [{ ...quota, reason: "" }], "StatefulSetWarning", "StatefulSet e-g1: exceeded quota"],
] as const)("%s", async (_, warnings, reason, message) => {
  expect(await ready(warnings)).toEqual({ reason, message, requests: ["list Event"] });
});

test("messages of others are plain, without volatile parts", async () => {
  const message = (port: number) =>
    `create Pod e-g1-0 failed:\n\u001b[2Jread tcp 10.0.0.7:${port}->10.96.0.9:443: reset`;
  const [one, other] = [
    await ready([{ ...quota, message: message(40_000) }]),
    await ready([{ ...quota, message: message(50_000) }]),
  ];
  expect(one.message).toBe("StatefulSet e-g1: create Pod e-g1-0 failed: read tcp <ip>:443: reset");
  expect(other).toEqual(one);
});

test("a warning that repeats itself is written again when its count has doubled", async () => {
  const world = new FakeEngineStore();
  const messages = new Set<string>();
  let status: EngineStatus = {
    phase: "creating",
    currentGeneration: 1,
    activeGeneration: 0,
    conditions: [instanceReady],
  };
  for (let count = 1; count <= 100; count++) {
    world.warnings = [{ ...quota, count }];
    const s = snapshot(engine({ status }), { pods: NO_PODS });
    const decision = computeEngine({
      ...s,
      findings: await observeFindings(s, { cluster: world, logger: silentLogger }),
    });
    if (decision.type !== "broken") ({ status } = decision);
    messages.add(findCondition(status.conditions, "Ready")?.message ?? "");
  }
  expect([...messages].map((message) => message.replace("StatefulSet e-g1: exceeded quota", ""))).toEqual(
    ["", 2, 4, 8, 16, 32, 64].map((count) => (count === "" ? "" : ` (x${count})`)),
  );
});

test("PodsNotReady is refined as well", async () => {
  expect(await ready([quota], {}, "stable")).toMatchObject({ reason: "FailedCreate" });
});

test("no warning: the generic reason stays", async () => {
  expect(await ready([])).toMatchObject({ reason: "Rolling", requests: ["list Event"] });
});

test.each([
  ["all pods exist", { pods: NOT_READY }, "creating", "Rolling"],
  ["a more telling reason stands", { instance: undefined }, "creating", "InstanceNotReady"],
  [
    "the StatefulSet is not observed",
    { current: { ...liveSet(engine(), 1), statefulSet: { type: "absent" } } },
    "creating",
    "Rolling",
  ],
  [
    "the StatefulSet is seconds old",
    { current: liveSet(engine(), 1, { creationTimestamp: NOW }) },
    "creating",
    "Rolling",
  ],
  [
    "its controller has not seen the StatefulSet yet",
    { current: liveSet(engine(), 1, { generation: 2 }) },
    "creating",
    "Rolling",
  ],
  [
    "bump: the generation is being left",
    { current: liveSet(engine({ spec: { replicas: 1 } }), 1) },
    "stable",
    "Rolling",
  ],
] as const)("no warnings are listed when %s", async (_, changes, phase, reason) => {
  expect(await ready([quota], changes as Partial<EngineSnapshot>, phase)).toMatchObject({ reason, requests: [] });
});

test("events-cannot-be-listed: a failing list changes nothing", async () => {
  const world = new FakeEngineStore();
  world.intercept = () => {
    throw new Error("no events today");
  };
  const s = snapshot(
    engine({ status: { phase: "creating", currentGeneration: 1, activeGeneration: 0, conditions: [instanceReady] } }),
    { pods: NO_PODS },
  );
  const findings = await observeFindings(s, { cluster: world, logger: silentLogger });
  expect(computeEngine({ ...s, findings })).toEqual(computeEngine(s));
});

test.each([
  ["last timestamp", { lastTimestamp: NOW, eventTime: EARLIER }, NOW],
  ["event time", { eventTime: NOW, metadata: { creationTimestamp: EARLIER } }, NOW],
  ["creation", { metadata: { creationTimestamp: NOW } }, NOW],
] as const)("an event's time is its %s", (_, event, time) => {
  expect(warningOf({ involvedObject: {}, metadata: {}, ...event }).lastSeenMs).toBe(Date.parse(time));
});
