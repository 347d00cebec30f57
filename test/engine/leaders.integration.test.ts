// Two operators, one of them a former leader that stood still at one write of a roll and wakes up when another has finished that
// roll and the next. Its fence is off on purpose: what it still sends must bounce off preconditions, or be cleaned up.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { bundleOperatorProgram, type OperatorProgram } from "../harness/operator/start-program.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, orphanedObjects, openEngineHarness } from "./support/engine-harness.ts";
import { targetsOf } from "./support/history-views.ts";

let plane: EngineControlPlane;
let program: OperatorProgram;
beforeAll(async () => {
  [plane, program] = await Promise.all([openEngineControlPlane(), bundleOperatorProgram()]);
});
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  await program?.[Symbol.asyncDispose]();
});

/** The writes of a roll: crash.integration.test.ts checks the number. */
const ROLL_WRITES = 12;

/** Short, but long enough for ten processes on a small machine to renew in time, one that stands still for seconds included. */
const TIMING = { leaseMs: 10_000, renewDeadlineMs: 8_000, retryMs: 500 };

const settingsOf = (harness: EngineHarness) => ({
  kubeconfig: plane.kubeconfig,
  namespace: harness.namespace,
  countFrom: "signal" as const,
  lease: { name: "the-lease", timing: TIMING },
});

interface Pause {
  readonly before: number;
  readonly fenced: boolean;
}

/** A leader that stops right before one write of the roll to generation 1; a second one that then takes that roll to its end. */
async function pausedLeader(harness: EngineHarness, { before, fenced }: Pause) {
  await harness.createInstance();
  const fault = { type: "pause", at: before } as const;
  const former = program.start({ ...settingsOf(harness), identity: "former", fault, fenced });
  await former.said("leading");
  const next = program.start({ ...settingsOf(harness), identity: "next", fenced: true });
  await harness.createEngine("e", { replicas: 1, drainCheckInterval: "1s" });
  await harness.settled("e", 0);
  await former.arm();
  await harness.edit("e", image("two"));
  const pausing = await former.said("pausing");
  await next.said("leading");
  await harness.settled("e", 1);
  return {
    former,
    next,
    stale: String(pausing["before"]),
    async [Symbol.asyncDispose]() {
      await former[Symbol.asyncDispose]();
      await next[Symbol.asyncDispose]();
    },
  };
}

describe.concurrent("selector-never-goes-back, no-blind-overwrite: a former leader that wakes up with its fence off", () => {
  const pauses = Array.from({ length: ROLL_WRITES }, (_, index) => ({ before: index + 1, fenced: false }));
  test.each(pauses)("at write $before of a roll changes nothing for good", async (pause) => {
    await using harness = await openEngineHarness(plane, "leaders");
    await using leaders = await pausedLeader(harness, pause);
    await harness.edit("e", image("three"));
    await harness.settled("e", 2);
    leaders.former.signal("SIGCONT");
    await leaders.former.said("resumed");
    expect(await leaders.former.ended, `it wrote ${leaders.stale}`).toBe(1);
    await eventually(() => {
      expect(orphanedObjects(harness.history, "e", 2)).toEqual([]);
    });
    await harness.settled("e", 2);
    expect(targetsOf(harness, "e")).toEqual(["0", "1", "2"]);
    expect(harness.broken()).toEqual([]);
  });
});

/** What operators write, version by version: pods, and the status of a StatefulSet, go on changing after an engine has settled. */
function versionsOf({ history }: EngineHarness): readonly string[] {
  const written = history.all().filter(({ kind, name }) => kind !== "Pod" && name.startsWith("e"));
  return [
    ...new Set(
      written.map(({ kind, name, version, change, object }) =>
        kind === "StatefulSet"
          ? `${name} ${object.metadata?.uid} ${object.metadata?.generation} ${change}`
          : `${kind} ${name} ${version} ${change}`,
      ),
    ),
  ];
}

test("a former leader that wakes up with its fence on sends nothing at all and ends", async () => {
  await using harness = await openEngineHarness(plane, "leaders-fenced");
  await using leaders = await pausedLeader(harness, { before: 6, fenced: true });
  expect(leaders.stale).toBe("patch Service e-service");
  const before = versionsOf(harness);
  const { length } = leaders.former.writes;
  leaders.former.signal("SIGCONT");
  expect(await leaders.former.ended).toBe(1);
  expect(leaders.former.writes.slice(length)).toEqual([]);
  expect(leaders.former.writes.filter((text) => text === leaders.stale)).toEqual([]);
  expect(versionsOf(harness)).toEqual(before);
  expect(harness.broken()).toEqual([]);
});
