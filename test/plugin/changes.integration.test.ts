// The plugin as a process against a real control plane with the operator at work: every command that changes an engine, its output, its
// exit code and its effect.
import type { KubeObject } from "@firebolt-operator/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { pods } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { runPlugin } from "../harness/programs/plugin-process.ts";
import { NAMESPACE } from "./support/plugin-cluster.ts";
import { openPluginHarness, type PluginHarness } from "./support/plugin-harness.ts";
import { addPluginUser } from "./support/users.ts";

let harness: PluginHarness;
beforeAll(async () => {
  harness = await openPluginHarness();
}, 300_000);
afterAll(() => harness?.[Symbol.asyncDispose]());

describe("create", () => {
  test("creates, waits and reports it; a second call changes nothing", async () => {
    const args = ["engine", "create", "adhoc", "--instance", "lakeside", "--bucket", "tables", "--timeout", "240s"];
    expect(await harness.cluster.plugin(args)).toEqual({
      code: 0,
      stdout:
        "fireboltengine.compute.firebolt.io/adhoc created\nfireboltengine.compute.firebolt.io/adhoc condition met\n",
      stderr: "",
    });
    expect((await harness.engineOf("adhoc")).spec).toMatchObject({
      instanceRef: "lakeside",
      replicas: 1,
      customEngineConfig: { storage: { managed_table_storage: "s3", managed_table_bucket_name: "tables" } },
    });
    expect((await harness.cluster.plugin(args)).stdout).toContain(
      "fireboltengine.compute.firebolt.io/adhoc unchanged\n",
    );
  });

  test("without a bucket it warns and continues; it does not wait for 0 replicas", async () => {
    const result = await harness.cluster.plugin([
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
    await harness.cluster.rested("parked");
  });

  test("a wait that fails ends with 5, the reason and the describe line", async () => {
    const image = ["--image", "example.com/e:1", "--type", "accel-large"];
    const result = await harness.cluster.plugin([
      ...["engine", "create", "waiting", "--instance", "lakeside", "--bucket", "b", "--timeout", "2s"],
      ...image,
    ]);
    expect(result.code).toBe(5);
    expect(result.stderr).toMatch(
      /^error: timed out after 2s waiting for waiting to become ready: .*\nsee: kubectl .*describe -n analytics fireboltengine waiting\n$/s,
    );
    await harness.cluster.plugin(["engine", "delete", "waiting"]);
  });

  test.each([
    ["instance", ["--instance", "lakside"], /^error: FireboltInstance "lakside" not found .*did you mean "lakeside"\?/],
    [
      "class",
      ["--instance", "lakeside", "--type", "accel-larg"],
      /^error: FireboltEngineClass "accel-larg" not found .*did you mean "accel-large"\?/,
    ],
  ])("a mistyped %s is rejected before anything is created", async (_, flags, message) => {
    const result = await harness.cluster.plugin(["engine", "create", "typo", "--bucket", "b", ...flags]);
    expect(result).toEqual({ code: 3, stdout: "", stderr: expect.stringMatching(message) });
    expect(await harness.cluster.client.find(FireboltEngine, { namespace: NAMESPACE, name: "typo" })).toBeUndefined();
  });
});

test("create never changes an existing engine without --overwrite", async () => {
  const autoStop = { enabled: false, activeReplicas: 1 };
  await harness.cluster.client.create<KubeObject>(
    FireboltEngine,
    {
      metadata: { name: "existing", namespace: NAMESPACE },
      ...{ spec: { instanceRef: "lakeside", replicas: 0, autoStop } },
    },
    // Even where the plugin itself has set the fields.
    { fieldManager: "kubectl-firebolt" },
  );
  await harness.cluster.rested("existing");
  const before = await harness.engineOf("existing");
  const args = ["engine", "create", "existing", "--instance", "lakeside", "--bucket", "tables", "--replicas", "1"];
  expect(await harness.cluster.plugin(args)).toEqual({
    code: 4,
    stdout: "",
    stderr: [
      'error: FireboltEngine "existing" already exists in namespace "analytics" and differs in:',
      "  spec.replicas: 0 \u2192 1",
      "  spec.customEngineConfig",
      "change its size with: kubectl firebolt engine scale existing --replicas 1 -n analytics",
      "change it with kubectl edit or kubectl apply, or add --overwrite to set these fields",
      "",
    ].join("\n"),
  });
  expect((await harness.engineOf("existing")).metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  expect((await harness.cluster.plugin([...args, "--overwrite", "--timeout", "240s"])).stdout).toMatch(
    /existing configured\n/,
  );
  expect((await harness.engineOf("existing")).spec).toMatchObject({ replicas: 1, autoStop: { enabled: false } });
  await harness.cluster.plugin(["engine", "delete", "existing"]);
});

describe("changes", () => {
  test("scale, stop, start and restart take effect and wait for it", async () => {
    expect((await harness.cluster.plugin(["engine", "scale", "adhoc", "--replicas", "2", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc scaled from 1 to 2 replicas\nfireboltengine/adhoc generation 1 serves with 2 of 2 pods ready\n",
    );
    expect((await harness.cluster.plugin(["engine", "scale", "adhoc", "--replicas", "2"])).stdout).toBe(
      "fireboltengine/adhoc already has 2 replicas\n",
    );
    expect((await harness.cluster.plugin(["stop", "adhoc", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc stopped (it had 2 replicas)\nfireboltengine/adhoc stopped\n",
    );
    expect((await harness.engineOf("adhoc")).status?.phase).toBe("stopped");
    const stopped = await harness.cluster.rested("adhoc");
    expect(await harness.cluster.plugin(["engine", "restart", "adhoc"])).toEqual({
      code: 5,
      stdout: "",
      stderr:
        "error: fireboltengine/adhoc is stopped, so there is nothing to restart; start it with: kubectl firebolt engine start adhoc -n analytics\n",
    });
    expect((await harness.engineOf("adhoc")).metadata?.resourceVersion).toBe(stopped.metadata?.resourceVersion);
    expect((await harness.cluster.plugin(["start", "adhoc", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc started with 2 replicas\nfireboltengine/adhoc generation 3 serves with 2 of 2 pods ready\n",
    );
    expect((await harness.cluster.plugin(["engine", "restart", "adhoc", "--wait"])).stdout).toContain(
      "generation 4 serves with 2 of 2 pods ready",
    );
  });

  test("wake is rejected where it would have no effect", async () => {
    const { adminKubeconfig } = harness.cluster.controlPlane;
    const reach = `--kubeconfig=${adminKubeconfig}`;
    expect(await harness.cluster.plugin(["wake", "adhoc", reach])).toEqual({
      code: 4,
      stdout: "",
      stderr: `error: fireboltengine/adhoc has auto-stop disabled, so a wake request has no effect; start it with: kubectl firebolt engine start adhoc -n analytics ${reach}\n`,
    });
    expect((await harness.engineOf("adhoc")).metadata?.annotations?.[WAKE_REQUESTED]).toBeUndefined();
  });
});

const WAKE_REQUESTED = "firebolt.io/wake-requested";
const AUTO_STOP = { enabled: true, activeReplicas: 1, idleReplicas: 0, idleTimeout: "30m", pollInterval: "1s" };

describe("an engine that auto-stop looks after", () => {
  beforeAll(async () => {
    await harness.cluster.client.create<KubeObject>(FireboltEngine, {
      metadata: { name: "sleeper", namespace: NAMESPACE },
      ...{ spec: { instanceRef: "lakeside", replicas: 0, autoStop: AUTO_STOP } },
    });
    await harness.cluster.rested("sleeper");
  });

  test("wake --wait ends when the engine serves, not while it still rests", async () => {
    expect((await harness.cluster.plugin(["wake", "sleeper", "--wait", "--timeout", "240s"])).stdout).toBe(
      "fireboltengine/sleeper wake requested\nfireboltengine/sleeper generation 1 serves with 1 of 1 pods ready\n",
    );
  });

  test("an engine that was woken a moment ago is stopped, and stays so", async () => {
    expect(await harness.cluster.plugin(["stop", "sleeper", "--wait", "--timeout", "240s"])).toEqual({
      code: 0,
      stdout: "fireboltengine/sleeper stopped (it had 1 replica)\nfireboltengine/sleeper stopped\n",
      stderr: "warning: auto-stop is enabled: a query, a schedule or a new wake request will start this engine again\n",
    });
    const { metadata, status } = await harness.engineOf("sleeper");
    expect(metadata?.annotations?.[WAKE_REQUESTED]).toBeUndefined();
    expect(status?.phase).toBe("stopped");
  });

  test("stop --wait ends with 5 when the engine was started again in the meantime", async () => {
    expect((await harness.cluster.plugin(["start", "sleeper", "--wait", "--timeout", "240s"])).code).toBe(0);
    // A running query keeps the stop from completing before the engine is started again.
    const { items } = await harness.cluster.client.list(pods, {
      namespace: NAMESPACE,
      labelSelector: "firebolt.io/engine=sleeper",
    });
    for (const { status } of items) harness.cluster.metrics.answer(status?.podIP ?? "", () => ({ running: 1 }));
    const stopping = harness.cluster.plugin(["stop", "sleeper", "--wait", "--timeout", "240s"]);
    await eventually(async () => expect((await harness.engineOf("sleeper")).spec?.replicas).toBe(0));
    await harness.cluster.client.patch(
      FireboltEngine,
      { namespace: NAMESPACE, name: "sleeper" },
      { type: "merge", body: { spec: { replicas: 1 } } },
    );
    for (const { status } of items) harness.cluster.metrics.answer(status?.podIP ?? "", () => ({ running: 0 }));
    expect(await stopping).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(
        /error: sleeper is not stopped: it was started again with 1 replica.*engine status sleeper -n analytics\n$/s,
      ),
    });
    await harness.cluster.plugin(["engine", "delete", "sleeper"]);
  });

  test("a user without permission to read the class can stop an engine", async () => {
    const kubeconfig = await addPluginUser(harness.cluster.controlPlane, "stopper", [
      { apiGroups: ["compute.firebolt.io"], resources: ["fireboltengines"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["", "apps"], resources: ["pods", "services", "statefulsets"], verbs: ["get", "list", "watch"] },
    ]);
    await harness.cluster.client.create<KubeObject>(FireboltEngineClass, {
      metadata: { name: "quiet", namespace: NAMESPACE },
      ...{ spec: { template: {}, autoStop: AUTO_STOP } },
    });
    await harness.cluster.client.create<KubeObject>(FireboltEngine, {
      metadata: { name: "classy", namespace: NAMESPACE },
      ...{ spec: { instanceRef: "lakeside", engineClassRef: "quiet", replicas: 1 } },
    });
    await harness.cluster.rested("classy");
    const asStopper = (...args: readonly string[]) =>
      runPlugin([...args, "classy", "-n", NAMESPACE, `--kubeconfig=${kubeconfig}`]);
    expect(await asStopper("stop", "--wait", "--timeout", "240s")).toEqual({
      code: 0,
      stdout: "fireboltengine/classy stopped (it had 1 replica)\nfireboltengine/classy stopped\n",
      stderr: "",
    });
    expect(await asStopper("wake")).toEqual({
      code: 0,
      stdout: "fireboltengine/classy wake requested\n",
      stderr:
        "warning: you have no permission to read class quiet: if auto-stop is disabled there, the request has no effect\n",
    });
    await harness.cluster.plugin(["engine", "delete", "classy"]);
  });
});

test("delete waits until the engine is deleted", async () => {
  expect((await harness.cluster.plugin(["engine", "delete", "parked"])).stdout).toBe(
    'fireboltengine.compute.firebolt.io "parked" deleted\n',
  );
  expect(await harness.cluster.client.find(FireboltEngine, { namespace: NAMESPACE, name: "parked" })).toBeUndefined();
});
