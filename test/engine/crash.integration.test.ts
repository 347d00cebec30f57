// The operator dies by SIGKILL after every single write of a creation, a roll and an abandonment, and another one starts: whatever
// was stored by then must be a state from which the engine reaches the same end, without a second flip and without a gap. An
// observer that shares nothing with either process checks every version that the API server stored.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { bundleOperatorProgram, type OperatorProgram } from "../harness/operator/start-program.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness } from "./support/engine-harness.ts";
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

const STATUS = "patch FireboltEngine e status";
/** In order. The test of the undisturbed run keeps these lists true, and with them the boundaries below. */
const CREATION = [
  "patch FireboltEngine e",
  STATUS,
  "create ConfigMap e-g0-config",
  "create Service e-g0-hl",
  "create StatefulSet e-g0",
  "create Service e-service",
  STATUS,
  STATUS,
  STATUS,
];
const ROLL = [
  STATUS,
  "create ConfigMap e-g1-config",
  "create Service e-g1-hl",
  "create StatefulSet e-g1",
  STATUS,
  "patch Service e-service",
  STATUS,
  STATUS,
  "delete StatefulSet e-g0",
  "delete Service e-g0-hl",
  "delete ConfigMap e-g0-config",
  STATUS,
];
const ABANDONMENT = [
  "delete StatefulSet e-g1",
  "delete Service e-g1-hl",
  "delete ConfigMap e-g1-config",
  STATUS,
  "create ConfigMap e-g2-config",
  "create Service e-g2-hl",
  "create StatefulSet e-g2",
];
const DELETION = [
  "delete StatefulSet e-g0",
  "delete Service e-g0-hl",
  "delete Service e-service",
  "delete ConfigMap e-g0-config",
  "patch FireboltEngine e",
];

const boundaries = (writes: readonly string[]) =>
  Array.from({ length: writes.length + 1 }, (_, after) => ({ after, last: writes[after - 1] ?? "the start" }));

async function openHarness(prefix: string): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  return harness;
}

const settingsOf = (harness: EngineHarness) => ({
  kubeconfig: plane.kubeconfig,
  namespace: harness.namespace,
  fenced: true,
  countFrom: "start" as const,
});

const create = (harness: EngineHarness) => harness.createEngine("e", { replicas: 1, drainCheckInterval: "1s" });

test("an undisturbed operator writes exactly what the boundaries below are made of", async () => {
  await using harness = await openHarness("crash-plain");
  await using operator = program.start(settingsOf(harness));
  await operator.said("synced");
  await create(harness);
  await harness.settled("e", 0);
  // The harness may observe the last write before the operator has its response.
  await eventually(() => {
    expect(operator.writes).toEqual(CREATION);
  });
  await harness.edit("e", image("two"));
  await harness.settled("e", 1);
  await eventually(() => {
    expect(operator.writes.slice(CREATION.length)).toEqual(ROLL);
  });
  expect(operator.lines.filter(({ event }) => event === "error")).toEqual([]);
  expect(harness.broken()).toEqual([]);
});

describe.concurrent("killed-after-any-write: killed during a creation", () => {
  test.each(boundaries(CREATION))("after $after writes (last: $last)", async ({ after }) => {
    await using harness = await openHarness("crash-create");
    await create(harness);
    await using first = program.start({ ...settingsOf(harness), fault: { type: "kill", at: after } });
    expect(await first.ended).toBe("SIGKILL");
    await using _second = program.start(settingsOf(harness));
    await harness.settled("e", 0);
    expect(targetsOf(harness, "e")).toEqual(["0"]);
    expect(harness.history.of("StatefulSet").filter(({ name }) => name !== "e-g0")).toEqual([]);
    expect(harness.broken()).toEqual([]);
  });
});

describe.concurrent("killed-after-any-write, killed-after-switch, killed-while-cleaning: killed during a roll", () => {
  test.each(boundaries(ROLL))("after $after writes (last: $last)", async ({ after }) => {
    await using harness = await openHarness("crash-roll");
    await using first = program.start({
      ...settingsOf(harness),
      fault: { type: "kill", at: after },
      countFrom: "signal",
    });
    await create(harness);
    await harness.settled("e", 0);
    await first.arm();
    await harness.edit("e", image("two"));
    expect(await first.ended).toBe("SIGKILL");
    await using _second = program.start(settingsOf(harness));
    await harness.settled("e", 1);
    expect(targetsOf(harness, "e")).toEqual(["0", "1"]);
    expect(harness.broken()).toEqual([]);
  });
});

describe.concurrent("killed-after-any-write, killed-while-abandoning: killed while abandoning a generation", () => {
  test.each(boundaries(ABANDONMENT))("after $after writes (last: $last)", async ({ after }) => {
    await using harness = await openHarness("crash-abandon");
    await using first = program.start({
      ...settingsOf(harness),
      fault: { type: "kill", at: after },
      countFrom: "signal",
    });
    await create(harness);
    await harness.settled("e", 0);
    await harness.edit("e", { template: { spec: { nodeSelector: harness.hold } } });
    await eventually(() => harness.pods("e", 1).length === 1);
    await first.arm();
    await harness.edit("e", { template: { spec: { nodeSelector: null, ...image("three").template.spec } } });
    expect(await first.ended).toBe("SIGKILL");
    await using _second = program.start(settingsOf(harness));
    // The number of the abandoned generation is used again only when its StatefulSet was gone before the new one was written.
    const { status } = await harness.until(
      "e",
      (e) => e.status?.phase === "stable" && e.status.activeGeneration > 0,
      "rests",
    );
    const last = status?.activeGeneration ?? -1;
    await harness.settled("e", last);
    expect(harness.statefulSet("e", last)?.spec?.template.spec?.containers[0]?.image).toBe("example.com/engine:three");
    expect(targetsOf(harness, "e")).toEqual(["0", String(last)]);
    expect(harness.broken()).toEqual([]);
  });
});

describe.concurrent("killed-after-any-write, finalizer-goes-last: killed while deleting", () => {
  test.each(boundaries(DELETION))("after $after writes (last: $last)", async ({ after }) => {
    await using harness = await openHarness("crash-delete");
    await using first = program.start({
      ...settingsOf(harness),
      fault: { type: "kill", at: after },
      countFrom: "signal",
    });
    await create(harness);
    await harness.settled("e", 0);
    await first.arm();
    await harness.client.delete(FireboltEngine, { namespace: harness.namespace, name: "e" });
    expect(await first.ended).toBe("SIGKILL");
    await using _second = program.start(settingsOf(harness));
    await eventually(() => {
      expect(harness.history.present("FireboltEngine")).toEqual([]);
      expect(harness.history.present("StatefulSet")).toEqual([]);
      expect(harness.history.present("Service")).toEqual([]);
      expect(harness.history.present("Pod")).toEqual([]);
      expect(harness.history.present("ConfigMap").map(({ metadata }) => metadata?.name)).toEqual(["kube-root-ca.crt"]);
    });
  });
});
