// The plugin as a process against a real control plane with the operator at work: every command that changes an engine, its output, its
// exit code and its effect.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/engine.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { eventually } from "../support/cluster.ts";
import { NAMESPACE } from "../support/plugin-cluster.ts";
import { openPluginWorld, type PluginWorld } from "../support/plugin-world.ts";

let world: PluginWorld;
beforeAll(async () => {
  world = await openPluginWorld();
}, 240_000);
afterAll(() => world?.[Symbol.asyncDispose]());

describe("create", () => {
  test("creates, waits and says so; a second time nothing changes", async () => {
    const args = ["engine", "create", "adhoc", "--instance", "lakeside", "--bucket", "tables", "--timeout", "90s"];
    expect(await world.cluster.plugin(args)).toEqual({
      code: 0,
      stdout:
        "fireboltengine.compute.firebolt.io/adhoc created\nfireboltengine.compute.firebolt.io/adhoc condition met\n",
      stderr: "",
    });
    expect((await world.engineOf("adhoc")).spec).toMatchObject({
      instanceRef: "lakeside",
      replicas: 1,
      customEngineConfig: { storage: { managed_table_storage: "s3", managed_table_bucket_name: "tables" } },
    });
    expect((await world.cluster.plugin(args)).stdout).toContain("fireboltengine.compute.firebolt.io/adhoc unchanged\n");
  });

  test("without a bucket it warns and goes on; 0 replicas are not waited for", async () => {
    const result = await world.cluster.plugin([
      "engine",
      "create",
      "parked",
      "--instance",
      "lakeside",
      "--replicas",
      "0",
    ]);
    expect(result).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: neither --bucket nor/) });
    expect(result.stdout).toContain("has 0 replicas: it stays stopped");
    await world.cluster.rested("parked");
  });

  test("a wait that fails ends with 5, the reason and the describe line", async () => {
    const args = ["engine", "create", "lost", "--instance", "nowhere", "--bucket", "b", "--timeout", "2s"];
    // The first time the operator may need longer than that to say what is missing.
    await world.cluster.plugin(args);
    await eventually(async () => {
      const conditions = (await world.engineOf("lost")).status?.conditions;
      expect(conditions?.find(({ type }) => type === "Ready")?.reason).toBe("InstanceNotReady");
    });
    const result = await world.cluster.plugin(args);
    expect(result.code).toBe(5);
    expect(result.stderr).toMatch(
      /^error: lost has not come to rest within 2s: .*nowhere.* not found.*\nsee: kubectl .*describe -n analytics fireboltengine lost\n$/s,
    );
    await world.cluster.plugin(["engine", "delete", "lost"]);
  });
});

test("create takes no fields from others, unless told to", async () => {
  const autoStop = { enabled: false };
  await world.cluster.client.create<KubeObject>(
    FireboltEngine,
    {
      metadata: { name: "of-others", namespace: NAMESPACE },
      ...{ spec: { instanceRef: "lakeside", replicas: 0, autoStop } },
    },
    { fieldManager: "gitops" },
  );
  await world.cluster.rested("of-others");
  const before = await world.engineOf("of-others");
  const args = ["engine", "create", "of-others", "--instance", "lakeside", "--bucket", "tables", "--replicas", "1"];
  expect(await world.cluster.plugin(args)).toEqual({
    code: 4,
    stdout: "",
    stderr: expect.stringMatching(
      /^error: FireboltEngine "of-others" is there already in namespace "analytics", .*\n {2}\.spec\.replicas: conflict with "gitops".*\n.*--overwrite/,
    ),
  });
  expect((await world.engineOf("of-others")).spec).toEqual(before.spec);
  expect((await world.cluster.plugin([...args, "--overwrite", "--timeout", "90s"])).stdout).toMatch(
    /of-others configured\n/,
  );
  expect((await world.engineOf("of-others")).spec).toMatchObject({ replicas: 1, autoStop });
  await world.cluster.plugin(["engine", "delete", "of-others"]);
});

describe("changes", () => {
  test("scale, stop, start, restart and wake do what they say and wait for it", async () => {
    expect((await world.cluster.plugin(["engine", "scale", "adhoc", "--replicas", "2", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc scaled from 1 to 2 replicas\nfireboltengine/adhoc generation 1 serves with 2 of 2 pods ready\n",
    );
    expect((await world.cluster.plugin(["engine", "scale", "adhoc", "--replicas", "2"])).stdout).toBe(
      "fireboltengine/adhoc has 2 replicas already\n",
    );
    expect((await world.cluster.plugin(["stop", "adhoc", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc stopped (it had 2 replicas)\nfireboltengine/adhoc stopped\n",
    );
    expect((await world.engineOf("adhoc")).status?.phase).toBe("stopped");
    expect((await world.cluster.plugin(["start", "adhoc", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc started with 2 replicas\nfireboltengine/adhoc generation 3 serves with 2 of 2 pods ready\n",
    );
    expect((await world.cluster.plugin(["engine", "restart", "adhoc", "--wait"])).stdout).toContain(
      "generation 4 serves with 2 of 2 pods ready",
    );
    const woken = await world.cluster.plugin(["wake", "adhoc"]);
    expect(woken).toMatchObject({
      code: 0,
      stdout: "fireboltengine/adhoc asked to wake\n",
      stderr: expect.stringContaining("auto-stop is off"),
    });
    const stamp = (await world.engineOf("adhoc")).metadata?.annotations?.["firebolt.io/wake-requested"] ?? "";
    expect(Math.abs(Date.now() - Date.parse(stamp))).toBeLessThan(60_000);
  });

  test("wake --wait ends when the engine serves, not while it still rests", async () => {
    const autoStop = { enabled: true, activeReplicas: 1, idleReplicas: 0, idleTimeout: "30m", pollInterval: "1s" };
    await world.cluster.client.create<KubeObject>(FireboltEngine, {
      metadata: { name: "sleeper", namespace: NAMESPACE },
      ...{ spec: { instanceRef: "lakeside", replicas: 0, autoStop } },
    });
    await world.cluster.rested("sleeper");
    expect((await world.cluster.plugin(["wake", "sleeper", "--wait", "--timeout", "90s"])).stdout).toBe(
      "fireboltengine/sleeper asked to wake\nfireboltengine/sleeper generation 1 serves with 1 of 1 pods ready\n",
    );
    await world.cluster.plugin(["engine", "delete", "sleeper"]);
  });
});

test("delete waits until the engine is gone", async () => {
  expect((await world.cluster.plugin(["engine", "delete", "parked"])).stdout).toBe(
    'fireboltengine.compute.firebolt.io "parked" deleted\n',
  );
  expect(await world.cluster.client.find(FireboltEngine, { namespace: NAMESPACE, name: "parked" })).toBeUndefined();
});
