// Other clients delete, edit or add objects, or pods cannot be created: repair in place where that is enough, a new
// generation where it is not, and a condition that names the cause.
import { type Clock, defineResource, KubeApiError, systemClock } from "@firebolt-operator/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import type { V1ConfigMap } from "../../src/api/generated/kubernetes.ts";
import { configMaps, coreEvents, services, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness, readyOf } from "./support/engine-harness.ts";
import { recordingClock } from "./support/recording-clock.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

const ResourceQuota = defineResource<{ metadata?: object; spec?: object; status?: { hard?: object } }>({
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
});

/** A namespace with an operator and an engine `e`, at rest on generation 0. */
async function openHarness(prefix: string, spec: object = {}, clock: Clock = systemClock): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  await harness.operator({ clock });
  await harness.createEngine("e", { drainCheckInterval: "1s", ...spec });
  await harness.settled("e", 0);
  return harness;
}

const inHarness = (harness: EngineHarness, name: string) => ({ namespace: harness.namespace, name });
const edit = (body: object) => ({ type: "merge", body }) as const;

/** Edits the routing Service, and waits until it has been written again since and is as wanted. */
async function serviceComesBack(harness: EngineHarness, body: object, wanted: object): Promise<void> {
  const edited = await harness.client.patch(services, inHarness(harness, "e-service"), edit(body));
  await eventually(() => {
    const written = harness.history.of("Service", "e-service").at(-1);
    expect(written?.version).toBeGreaterThan(BigInt(edited.metadata?.resourceVersion ?? ""));
    expect(written).toMatchObject({ change: "stored", object: wanted });
  });
}

/** Waits until the StatefulSet controller has processed e-g1 and reports its problem. */
function untilComplaint(harness: EngineHarness): Promise<boolean> {
  return eventually(async () => {
    const { metadata, status } = harness.statefulSet("e", 1) ?? {};
    if (metadata?.uid === undefined || (status?.observedGeneration ?? 0) < (metadata.generation ?? 1)) return false;
    const fieldSelector = `involvedObject.uid=${metadata.uid},type=Warning`;
    const { items } = await harness.client.list(coreEvents, { namespace: harness.namespace, fieldSelector });
    return items.length > 0;
  });
}

describe.concurrent("a StatefulSet", () => {
  test("stateful-set-deleted, serving-set-terminating: deleted manually, it is replaced by a new generation immediately, without waiting for its pods to terminate", async () => {
    await using harness = await openHarness("stateful-set-deleted");
    const body = { metadata: { finalizers: ["example.com/slow"] } };
    await harness.client.patch(statefulSets, inHarness(harness, "e-g0"), edit(body));
    await harness.client.delete(statefulSets, inHarness(harness, "e-g0"), { propagation: "Foreground" });
    await harness.until("e", ({ status }) => status?.activeGeneration === 1, "serves from the next generation");
    expect(harness.statefulSet("e", 0)?.metadata?.deletionTimestamp).toBeDefined();
    await harness.client.patch(statefulSets, inHarness(harness, "e-g0"), edit({ metadata: { finalizers: null } }));
    await harness.settled("e", 1);
    expect(harness.broken({ statefulSets: true })).toEqual([]);
  });

  test("stateful-set-deleted: a deleted StatefulSet is replaced by a new generation; the selector moves when that is ready", async () => {
    await using harness = await openHarness("stateful-set-deleted-again");
    await harness.client.delete(statefulSets, inHarness(harness, "e-g0"), { propagation: "Background" });
    await harness.settled("e", 1);
    expect(harness.target("e")).toBe(1);
    expect(harness.broken({ statefulSets: true })).toEqual([]);
  });

  test.each([
    { name: "scaled", body: { spec: { replicas: 1 } } },
    {
      name: "restarted",
      body: { spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } } } } },
    },
  ])(
    "stateful-set-edited: $name manually, it is replaced by a new generation with the spec's values",
    async ({ body }) => {
      await using harness = await openHarness("stateful-set-edited");
      await harness.client.patch(statefulSets, inHarness(harness, "e-g0"), edit(body));
      await harness.settled("e", 1);
      expect(harness.statefulSet("e", 1)?.spec?.replicas).toBe(2);
      expect(harness.statefulSet("e", 1)?.spec?.template.metadata?.annotations ?? {}).toEqual({});
      expect(harness.broken({ statefulSets: true })).toEqual([]);
    },
  );
});

describe.concurrent("what surrounds it", () => {
  test("config-map-deleted: a deleted ConfigMap comes back with the same bytes; no pod restarts and the phase stays", async () => {
    await using harness = await openHarness("config-map-deleted");
    const before = harness.history.latest("ConfigMap", "e-g0-config");
    const pods = harness.pods("e", 0).map(({ metadata }) => metadata?.uid);
    await harness.client.delete(configMaps, inHarness(harness, "e-g0-config"));
    const after = await eventually(() => {
      const found = harness.history.latest("ConfigMap", "e-g0-config");
      return found !== undefined && found.metadata?.uid !== before?.metadata?.uid && found;
    });
    expect(after.data).toEqual(before?.data);
    expect(harness.pods("e", 0).map(({ metadata }) => metadata?.uid)).toEqual(pods);
    expect(harness.engine("e").status).toMatchObject({ phase: "stable", currentGeneration: 0 });
    expect(harness.broken()).toEqual([]);
  });

  test("headless-service-deleted: a deleted headless Service comes back while stopped", async () => {
    await using harness = await openHarness("headless-service-deleted", { replicas: 0 });
    const before = harness.history.latest("Service", "e-g0-hl")?.metadata?.uid;
    await harness.client.delete(services, inHarness(harness, "e-g0-hl"));
    await eventually(() => {
      const uid = harness.history.latest("Service", "e-g0-hl")?.metadata?.uid;
      return uid !== undefined && uid !== before;
    });
    expect(harness.engine("e").status).toMatchObject({ phase: "stopped", currentGeneration: 0 });
    expect(harness.broken()).toEqual([]);
  });

  test.each(["7", "none"])(
    "routing-service-edited, routing-repaired-at-once: a routing Service pointed at %s comes back",
    async (generation) => {
      await using harness = await openHarness("routing-service-edited");
      const selecting = (value: string) => ({ spec: { selector: { "firebolt.io/generation": value } } });
      await serviceComesBack(harness, selecting(generation), selecting("0"));
      await harness.settled("e", 0);
      expect(harness.engine("e").status?.currentGeneration).toBe(0);
    },
  );

  test("routing-service-edited: a routing Service without its labels, or with another port, comes back", async () => {
    await using harness = await openHarness("routing-service-edited-again");
    const ports = harness.history.latest("Service", "e-service")?.spec?.ports;
    const labelled = { metadata: { labels: { "firebolt.io/engine": "e" } } };
    await serviceComesBack(harness, { metadata: { labels: null } }, labelled);
    await serviceComesBack(harness, { spec: { ports: [{ name: "x", port: 1 }] } }, { spec: { ports } });
    expect(harness.history.latest("Service", "e-service")?.spec?.ports).toEqual(ports);
    await harness.settled("e", 0);
  });
});

describe.concurrent("a status", () => {
  test("unknown-phase: an unknown phase is replaced by the phase that the generation numbers imply", async () => {
    await using harness = await openHarness("unknown-phase");
    const key = inHarness(harness, "e");
    await harness.client.patch(FireboltEngine, key, edit({ status: { phase: "paused" } }), { subresource: "status" });
    // A change of status alone starts no pass: this edit does, and rolls nothing.
    await harness.edit("e", { drainCheckInterval: "2s" });
    await harness.settled("e", 0);
    expect(harness.history.of("StatefulSet").filter(({ name }) => name !== "e-g0")).toEqual([]);
    expect(harness.broken({ status: true })).toEqual([]);
  });
});

describe.concurrent("orphaned objects", () => {
  /** An object of a generation, as the operator would have made it. */
  const orphan = (owner: FireboltEngine, generation: number, changes: V1ConfigMap["metadata"] = {}): V1ConfigMap => ({
    metadata: {
      name: `e-g${generation}-config`,
      labels: { "firebolt.io/engine": "e", "firebolt.io/generation": String(generation) },
      ...(owner.metadata?.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
      ownerReferences: [
        {
          apiVersion: "compute.firebolt.io/v1alpha1",
          kind: "FireboltEngine",
          name: "e",
          uid: owner.metadata?.uid ?? "",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      ...changes,
    },
  });

  test("orphans-of-many-generations, object-of-another-owner, sweep-deletes-only-orphans: sets of orphaned generations are deleted, a hundred deletes at a time; newer and foreign ones stay", async () => {
    await using harness = await openEngineHarness(plane, "orphans-of-many-generations");
    await harness.createInstance();
    const first = await harness.operator();
    await harness.createEngine("e", { drainCheckInterval: "1s" });
    const engine = await harness.settled("e", 0);
    await first.stop();
    const FORGOTTEN = 40;
    const { spec: setSpec } = harness.statefulSet("e", 0) ?? {};
    const { spec: serviceSpec } = harness.history.latest("Service", "e-g0-hl") ?? {};
    if (setSpec === undefined || serviceSpec === undefined) throw new Error("no set to copy");
    const { clusterIP: _, clusterIPs: __, ...plainService } = serviceSpec;
    for (let generation = 1; generation <= FORGOTTEN; generation++) {
      const metadata = orphan(engine, generation).metadata ?? {};
      await Promise.all([
        harness.client.create(configMaps, { metadata }),
        harness.client.create(services, {
          metadata: { ...metadata, name: `e-g${generation}-hl` },
          spec: { ...plainService, clusterIP: "None" },
        }),
        harness.client.create(statefulSets, {
          metadata: { ...metadata, name: `e-g${generation}` },
          spec: { ...setSpec, replicas: 0 },
        }),
      ]);
    }
    await harness.client.create(configMaps, orphan(engine, 99, { name: "newer" }));
    await harness.client.create(configMaps, orphan(engine, 3, { name: "not-owned", ownerReferences: [] }));
    const status = { currentGeneration: FORGOTTEN + 1, activeGeneration: FORGOTTEN + 1 };
    await harness.client.patch(FireboltEngine, inHarness(harness, "e"), edit({ status }), { subresource: "status" });
    const second = await harness.operator();
    await eventually(() => {
      expect(harness.history.present("StatefulSet").map(({ metadata }) => metadata?.name)).toEqual([
        `e-g${FORGOTTEN + 2}`,
      ]);
      expect(harness.history.present("Service")).toHaveLength(2);
      expect(harness.history.present("ConfigMap").map(({ metadata }) => metadata?.name)).toEqual([
        `e-g${FORGOTTEN + 2}-config`,
        "kube-root-ca.crt",
        "newer",
        "not-owned",
      ]);
    });
    const runs =
      second.requests
        .map(({ verb }) => (verb === "delete" ? "d" : "."))
        .join("")
        .match(/d+/g) ?? [];
    expect(Math.max(...runs.map(({ length }) => length))).toBeLessThanOrEqual(100);
    // The last one may be gone before the operator has heard that it is.
    await eventually(() => {
      const told = second.log.filter(({ message }) => message === "orphan deleted");
      expect(told.length).toBeGreaterThanOrEqual(3 * FORGOTTEN);
    });
  });

  test("orphans-behind-closed-gate, orphans-swept: they are deleted behind a closed gate too", async () => {
    await using harness = await openHarness("orphans-behind-closed-gate");
    await harness.edit("e", image("two"));
    await harness.settled("e", 1);
    await harness.edit("e", { template: { spec: { hostNetwork: true } } });
    await harness.until("e", (e) => readyOf(e)?.reason === "TemplateRejected", "rejects the template");
    const { metadata } = await harness.client.create(configMaps, orphan(harness.engine("e"), 0));
    await eventually(() => {
      const last = harness.history.of("ConfigMap", "e-g0-config").at(-1);
      return last?.change === "removed" && last.object.metadata?.uid === metadata?.uid;
    });
    expect(readyOf(harness.engine("e"))?.reason).toBe("TemplateRejected");
    expect(harness.engine("e").status).toMatchObject({ phase: "stable", currentGeneration: 1 });
    expect(harness.broken()).toEqual([]);
  });
});

describe.concurrent("pods that cannot be made", () => {
  test("pods-cannot-be-created: a quota is reported on the engine within ten seconds, the old generation serves, and it clears automatically", async () => {
    const { clock, delaysMs } = recordingClock();
    await using harness = await openHarness("pods-cannot-be-created", {}, clock);
    await harness.client.create(ResourceQuota, {
      metadata: { namespace: harness.namespace, name: "no-more" },
      spec: { hard: { pods: "2" } },
    });
    await eventually(
      async () => (await harness.client.get(ResourceQuota, inHarness(harness, "no-more"))).status?.hard !== undefined,
    );
    await harness.edit("e", image("two"));
    await eventually(() => harness.statefulSet("e", 1) !== undefined);
    const delaysBefore = delaysMs.length;
    await untilComplaint(harness);
    const stuck = await harness.until("e", (e) => readyOf(e)?.reason === "FailedCreate", "reports the cause");
    // By the operator's own clock: how long it meant to wait for its next look, whatever the machine made of it.
    expect(Math.max(...delaysMs.slice(delaysBefore))).toBeLessThan(10_000);
    expect(readyOf(stuck)?.message).toMatch(/^StatefulSet e-g1: .*exceeded quota.*/);
    expect(stuck.status).toMatchObject({ phase: "creating", currentGeneration: 1, activeGeneration: 0 });
    expect(harness.target("e")).toBe(0);
    await harness.client.delete(ResourceQuota, inHarness(harness, "no-more"));
    // The longer it was rejected, the longer the StatefulSet controller waits before it retries.
    await harness.settled("e", 1, 180_000);
    expect(harness.broken()).toEqual([]);
  });

  test("pods-cannot-be-created: a missing ServiceAccount shows, and fixing the template abandons the generation", async () => {
    await using harness = await openHarness("pods-cannot-be-created-again");
    await harness.edit("e", { template: { spec: { serviceAccountName: "nobody" } } });
    await untilComplaint(harness);
    const stuck = await harness.until("e", (e) => readyOf(e)?.reason === "FailedCreate", "reports the cause");
    expect(readyOf(stuck)?.message).toContain("nobody");
    expect(harness.target("e")).toBe(0);
    await harness.edit("e", { template: { spec: { serviceAccountName: null, ...image("two").template.spec } } });
    await harness.settled("e", 2);
    expect(harness.broken()).toEqual([]);
  });

  test("events-cannot-be-listed: when events cannot be listed the reason stays generic and the rollout continues", async () => {
    await using harness = await openEngineHarness(plane, "events-cannot-be-listed");
    await harness.createInstance();
    let refusals = 0;
    const operator = await harness.operator({
      reads: (client) => ({
        ...client,
        list: (type, options) => {
          if (type.plural !== coreEvents.plural) return client.list(type, options);
          refusals += 1;
          return Promise.reject(new KubeApiError("GET events", 403, { reason: "Forbidden" }));
        },
      }),
    });
    await harness.createEngine("e", { template: { spec: { serviceAccountName: "nobody" } } });
    await eventually(() => refusals > 0);
    await harness.edit("e", { template: null });
    await harness.settled("e", 1);
    const reasons = harness.history.of("FireboltEngine", "e").map(({ object }) => readyOf(object)?.reason);
    expect(reasons).not.toContain("FailedCreate");
    expect(operator.log.some(({ message }) => message.includes("could not be listed"))).toBe(true);
  });
});
