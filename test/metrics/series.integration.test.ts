// What a running operator shows on its metrics page: every series of the contract with its labels in order, values that follow the
// objects, and nothing of an object that is gone.
import { afterAll, beforeAll, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import type { V1ConfigMap } from "../../src/api/generated/kubernetes.ts";
import { API_VERSION } from "../../src/api/group.ts";
import { LABEL } from "../../src/api/labels.ts";
import { configMaps } from "../../src/engine/cluster/kinds.ts";
import { type EngineControlPlane, openEngineControlPlane } from "../engine/support/engine-control-plane.ts";
import { image, openEngineHarness } from "../engine/support/engine-harness.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { engine, instance } from "../harness/fixtures/manifests.ts";
import { type MetricsOperator, startMetricsOperator } from "./support/operator-harness.ts";
import type { Series } from "./support/scrape.ts";

const PATIENCE = { timeoutMs: 60_000 };
const ENGINE = ["namespace", "name", "instance"];
const INSTANCE = ["namespace", "name"];
const QUEUE = ["name", "controller"];

/** The samples that the page must have while an engine, an instance and a class are there, and their labels in order. */
const CONTRACT: Readonly<Record<string, readonly string[]>> = {
  firebolt_engine_status_phase: [...ENGINE, "phase"],
  firebolt_engine_status_condition: [...ENGINE, "type"],
  firebolt_engine_spec_replicas: ENGINE,
  firebolt_engine_active_generation: ENGINE,
  firebolt_engine_draining_generation: ENGINE,
  firebolt_engine_pods_ready: ENGINE,
  firebolt_engine_pods_total: ENGINE,
  firebolt_engine_auto_stop_scrape_failing: ENGINE,
  firebolt_engine_last_reconciled_timestamp: ENGINE,
  firebolt_engine_drain_check_errors_total: ENGINE,
  firebolt_engine_current_generation: ENGINE,
  firebolt_engine_condition_reason: [...ENGINE, "type", "reason"],
  firebolt_engine_phase_transitions_total: [...ENGINE, "from", "to"],
  firebolt_engine_rollout_duration_seconds_count: [...ENGINE, "outcome"],
  firebolt_engine_autostop_scale_total: [...ENGINE, "direction", "reason"],
  firebolt_engine_orphan_deletes_total: [...ENGINE, "kind"],
  firebolt_instance_status_phase: [...INSTANCE, "phase"],
  firebolt_instance_status_condition: [...INSTANCE, "type"],
  firebolt_instance_info: [...INSTANCE, "id", "postgres_mode"],
  firebolt_instance_component_rollout_stuck: [...INSTANCE, "component"],
  firebolt_instance_last_reconciled_timestamp: INSTANCE,
  firebolt_instance_signing_key_generation: INSTANCE,
  firebolt_instance_signing_keys: [...INSTANCE, "phase"],
  firebolt_instance_signing_key_rotation_pending_step: [...INSTANCE, "step"],
  firebolt_instance_signing_key_rotation_pending_seconds: INSTANCE,
  firebolt_instance_signing_key_rotation_lagging_engines: INSTANCE,
  firebolt_instance_condition_reason: [...INSTANCE, "type", "reason"],
  firebolt_engineclass_bound_engines: INSTANCE,
  firebolt_engineclass_status_condition: [...INSTANCE, "type"],
  firebolt_operator_build_info: ["version", "revision", "node_version"],
  controller_runtime_reconcile_total: ["controller", "result"],
  controller_runtime_reconcile_errors_total: ["controller"],
  controller_runtime_terminal_reconcile_errors_total: ["controller"],
  controller_runtime_reconcile_panics_total: ["controller"],
  controller_runtime_reconcile_time_seconds_count: ["controller"],
  controller_runtime_max_concurrent_reconciles: ["controller"],
  controller_runtime_active_workers: ["controller"],
  workqueue_depth: QUEUE,
  workqueue_adds_total: QUEUE,
  workqueue_queue_duration_seconds_count: QUEUE,
  workqueue_work_duration_seconds_count: QUEUE,
  workqueue_unfinished_work_seconds: QUEUE,
  workqueue_longest_running_processor_seconds: QUEUE,
  workqueue_retries_total: QUEUE,
  rest_client_requests_total: ["code", "method", "host"],
  leader_election_master_status: ["name"],
  certwatcher_read_certificate_total: [],
  certwatcher_read_certificate_errors_total: [],
  process_cpu_seconds_total: [],
  process_resident_memory_bytes: [],
  nodejs_eventloop_lag_seconds: [],
  nodejs_eventloop_lag_p99_seconds: [],
  nodejs_heap_size_used_bytes: [],
  nodejs_gc_duration_seconds_count: ["kind"],
};

let cluster: EngineControlPlane;
beforeAll(async () => {
  cluster = await openEngineControlPlane();
});
afterAll(() => cluster[Symbol.asyncDispose]());

function shows(operator: MetricsOperator, name: string, labels: Readonly<Record<string, string>>, value?: string) {
  const what = `${name} ${JSON.stringify(labels)} = ${value ?? "anything but 0"}`;
  return eventually(
    async () => {
      const found = (await operator.series(labels)).filter((series) => series.name === name);
      expect(found.map((series) => series.value)).toHaveLength(1);
      if (value === undefined) expect(found[0]?.value).not.toBe("0");
      else expect(found[0]?.value).toBe(value);
    },
    { ...PATIENCE, describe: what },
  );
}

/** An orphaned object of an old generation. */
function orphanOf({ metadata }: FireboltEngine): V1ConfigMap {
  const { namespace = "", name = "", uid = "" } = metadata ?? {};
  return {
    metadata: {
      namespace,
      name: `${name}-g0-orphan`,
      labels: { [LABEL.engine]: name, [LABEL.generation]: "0" },
      ownerReferences: [
        { apiVersion: API_VERSION, kind: "FireboltEngine", name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
  };
}

const labelNames = (series: Series): readonly string[] => Object.keys(series.labels).filter((name) => name !== "le");

test("the page follows engines, instances and classes from the first object to the last", async () => {
  await using harness = await openEngineHarness(cluster, "series");
  const { namespace, client } = harness;
  await using operator = await startMetricsOperator({ kubeconfig: cluster.kubeconfig, namespace });
  await client.create(FireboltInstance, instance({ name: "main", namespace }) as FireboltInstance);
  await harness.createClass("c");
  await harness.createEngine("e", { replicas: 1, engineClassRef: "c", drainCheckInterval: "1s", ...image("1") });
  await harness.settled("e", 0, 60_000);
  await shows(operator, "firebolt_engine_pods_ready", { name: "e" }, "1");
  await shows(operator, "firebolt_engine_status_phase", { name: "e", phase: "stable" }, "1");
  await shows(operator, "firebolt_engine_condition_reason", { name: "e", reason: "EngineReady" }, "1");
  await shows(operator, "firebolt_instance_status_phase", { name: "main", phase: "Ready" }, "1");
  await shows(operator, "firebolt_instance_info", { name: "main", postgres_mode: "internal" }, "1");
  await shows(operator, "firebolt_engineclass_bound_engines", { name: "c" }, "1");
  await shows(operator, "leader_election_master_status", { name: "c662f7f5.firebolt.io" }, "1");

  // A roll whose drain probe fails for a while.
  harness.queries(harness.pods("e", 0)[0], "broken");
  await harness.edit("e", image("2"));
  await shows(operator, "firebolt_engine_drain_check_errors_total", { name: "e" });
  await shows(operator, "firebolt_engine_draining_generation", { name: "e" }, "0");
  await shows(operator, "firebolt_engine_active_generation", { name: "e" }, "1");
  await shows(operator, "firebolt_engine_condition_reason", { name: "e", reason: "DrainCheckFailing" }, "1");
  harness.queries(harness.pods("e", 0)[0], {});
  await harness.settled("e", 1, 60_000);
  await shows(operator, "firebolt_engine_rollout_duration_seconds_count", { name: "e", outcome: "completed" }, "2");
  await shows(operator, "firebolt_engine_draining_generation", { name: "e" }, "-1");

  // A generation that never gets its pods and is abandoned.
  const held = { template: { spec: { ...image("3").template.spec, nodeSelector: harness.hold } } };
  await harness.edit("e", held);
  // Not its number alone: without a StatefulSet there is nothing to abandon, and the next spec uses the number.
  await eventually(() => harness.statefulSet("e", 2) !== undefined);
  await harness.edit("e", { template: { spec: { ...image("4").template.spec, nodeSelector: null } } });
  await harness.settled("e", 3, 60_000);
  await shows(operator, "firebolt_engine_rollout_duration_seconds_count", { name: "e", outcome: "abandoned" }, "1");

  await client.create(configMaps, orphanOf(harness.engine("e")));
  await shows(operator, "firebolt_engine_orphan_deletes_total", { name: "e", kind: "ConfigMap" }, "1");

  const autoStop = { enabled: true, activeReplicas: 1, idleTimeout: "2s", pollInterval: "1s" };
  await harness.createEngine("s", { replicas: 1, autoStop, ...image("1") });
  await shows(operator, "firebolt_engine_autostop_scale_total", { name: "s", direction: "down", reason: "Idle" }, "1");
  await shows(operator, "firebolt_engine_status_phase", { name: "s", phase: "stopped" }, "1");

  const page = await operator.series();
  for (const [name, labels] of Object.entries(CONTRACT)) {
    const samples = page.filter((series) => series.name === name);
    expect(samples.length, name).toBeGreaterThan(0);
    for (const sample of samples) expect(labelNames(sample), name).toEqual(labels);
  }
  expect(
    page.filter(({ name, labels }) => name.startsWith("firebolt_engine_") && labels["name"] === "e").length,
  ).toBeLessThan(60);

  for (const name of ["e", "s"]) await client.delete(FireboltEngine, { namespace, name });
  await client.delete(FireboltEngineClass, { namespace, name: "c" });
  await client.delete(FireboltInstance, { namespace, name: "main" });
  await eventually(async () => {
    const left = (await operator.series({ namespace })).map(({ name, labels }) => `${name} ${labels["name"]}`);
    expect(left).toEqual([]);
  }, PATIENCE);
  expect((await operator.series({ controller: "fireboltengine" })).length).toBeGreaterThan(0);
}, 300_000);

test("an object that leaves the selector takes its series with it", async () => {
  await using harness = await openEngineHarness(cluster, "shard");
  const { namespace, client } = harness;
  const kubeconfig = cluster.kubeconfig;
  await using operator = await startMetricsOperator({ kubeconfig, namespace, selector: "shard=a" });
  const labelled = (name: string, shard: string) => {
    const manifest = engine({ name, namespace, instanceRef: "nowhere" });
    return { ...manifest, metadata: { ...manifest.metadata, labels: { shard } } } as FireboltEngine;
  };
  await client.create(FireboltEngine, labelled("ours", "a"));
  await client.create(FireboltEngine, labelled("theirs", "b"));
  await shows(operator, "firebolt_engine_condition_reason", { name: "ours", type: "InstanceReady" }, "1");
  expect(await operator.series({ name: "theirs" })).toEqual([]);
  const body = { metadata: { labels: { shard: "b" } } };
  await client.patch(FireboltEngine, { namespace, name: "ours" }, { type: "merge", body });
  await eventually(async () => expect(await operator.series({ name: "ours" })).toEqual([]), PATIENCE);
  for (const name of ["ours", "theirs"]) await client.delete(FireboltEngine, { namespace, name });
});
