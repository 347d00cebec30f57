// What happens when somebody deletes, edits or litters beside the operator, and when pods cannot be made: repair in place where that
// is enough, a new generation where it is not, and a condition that says what is in the way.
import { type Clock, defineResource, KubeApiError, systemClock } from "@firebolt-operator/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import type { V1ConfigMap } from "../../src/api/generated/kubernetes.ts";
import { configMaps, coreEvents, services, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, startEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineLab, image, openEngineLab, readyOf } from "./support/engine-harness.ts";
import { recordingClock } from "./support/recording-clock.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await startEngineControlPlane();
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
async function openLab(prefix: string, spec: object = {}, clock: Clock = systemClock): Promise<EngineLab> {
  const lab = await openEngineLab(plane, prefix);
  await lab.createInstance();
  await lab.operator({ clock });
  await lab.createEngine("e", { drainCheckInterval: "1s", ...spec });
  await lab.settled("e", 0);
  return lab;
}

const inLab = (lab: EngineLab, name: string) => ({ namespace: lab.namespace, name });
const edit = (body: object) => ({ type: "merge", body }) as const;

/** Edits the routing Service, and waits until it has been written again since and is as wanted. */
async function serviceComesBack(lab: EngineLab, body: object, wanted: object): Promise<void> {
  const edited = await lab.client.patch(services, inLab(lab, "e-service"), edit(body));
  await eventually(() => {
    const written = lab.history.of("Service", "e-service").at(-1);
    expect(written?.version).toBeGreaterThan(BigInt(edited.metadata?.resourceVersion ?? ""));
    expect(written).toMatchObject({ change: "stored", object: wanted });
  });
}

/** Waits until the controller of e-g1 has come to it and says what hinders it. */
function untilComplaint(lab: EngineLab): Promise<boolean> {
  return eventually(async () => {
    const { metadata, status } = lab.statefulSet("e", 1) ?? {};
    if (metadata?.uid === undefined || (status?.observedGeneration ?? 0) < (metadata.generation ?? 1)) return false;
    const fieldSelector = `involvedObject.uid=${metadata.uid},type=Warning`;
    const { items } = await lab.client.list(coreEvents, { namespace: lab.namespace, fieldSelector });
    return items.length > 0;
  });
}

describe.concurrent("a StatefulSet", () => {
  test("stateful-set-deleted, serving-set-terminating: deleted by hand, it is replaced by a new generation at once, without waiting for its pods to end", async () => {
    await using lab = await openLab("stateful-set-deleted");
    const body = { metadata: { finalizers: ["example.com/slow"] } };
    await lab.client.patch(statefulSets, inLab(lab, "e-g0"), edit(body));
    await lab.client.delete(statefulSets, inLab(lab, "e-g0"), { propagation: "Foreground" });
    await lab.until("e", ({ status }) => status?.activeGeneration === 1, "serves from the next generation");
    expect(lab.statefulSet("e", 0)?.metadata?.deletionTimestamp).toBeDefined();
    await lab.client.patch(statefulSets, inLab(lab, "e-g0"), edit({ metadata: { finalizers: null } }));
    await lab.settled("e", 1);
    expect(lab.broken({ statefulSets: true })).toEqual([]);
  });

  test("stateful-set-deleted: gone without a trace, it is replaced by a new generation; the selector moves when that is ready", async () => {
    await using lab = await openLab("stateful-set-deleted-again");
    await lab.client.delete(statefulSets, inLab(lab, "e-g0"), { propagation: "Background" });
    await lab.settled("e", 1);
    expect(lab.target("e")).toBe(1);
    expect(lab.broken({ statefulSets: true })).toEqual([]);
  });

  test.each([
    { name: "scaled", body: { spec: { replicas: 1 } } },
    {
      name: "restarted",
      body: { spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } } } } },
    },
  ])(
    "stateful-set-edited: $name by hand, it is replaced by a new generation with the spec's values",
    async ({ body }) => {
      await using lab = await openLab("stateful-set-edited");
      await lab.client.patch(statefulSets, inLab(lab, "e-g0"), edit(body));
      await lab.settled("e", 1);
      expect(lab.statefulSet("e", 1)?.spec?.replicas).toBe(2);
      expect(lab.statefulSet("e", 1)?.spec?.template.metadata?.annotations ?? {}).toEqual({});
      expect(lab.broken({ statefulSets: true })).toEqual([]);
    },
  );
});

describe.concurrent("what surrounds it", () => {
  test("config-map-deleted: a deleted ConfigMap comes back with the same bytes; no pod restarts and the phase stays", async () => {
    await using lab = await openLab("config-map-deleted");
    const before = lab.history.latest("ConfigMap", "e-g0-config");
    const pods = lab.pods("e", 0).map(({ metadata }) => metadata?.uid);
    await lab.client.delete(configMaps, inLab(lab, "e-g0-config"));
    const after = await eventually(() => {
      const found = lab.history.latest("ConfigMap", "e-g0-config");
      return found !== undefined && found.metadata?.uid !== before?.metadata?.uid && found;
    });
    expect(after.data).toEqual(before?.data);
    expect(lab.pods("e", 0).map(({ metadata }) => metadata?.uid)).toEqual(pods);
    expect(lab.engine("e").status).toMatchObject({ phase: "stable", currentGeneration: 0 });
    expect(lab.broken()).toEqual([]);
  });

  test("headless-service-deleted: a deleted headless Service comes back while stopped", async () => {
    await using lab = await openLab("headless-service-deleted", { replicas: 0 });
    const before = lab.history.latest("Service", "e-g0-hl")?.metadata?.uid;
    await lab.client.delete(services, inLab(lab, "e-g0-hl"));
    await eventually(() => {
      const uid = lab.history.latest("Service", "e-g0-hl")?.metadata?.uid;
      return uid !== undefined && uid !== before;
    });
    expect(lab.engine("e").status).toMatchObject({ phase: "stopped", currentGeneration: 0 });
    expect(lab.broken()).toEqual([]);
  });

  test.each(["7", "none"])(
    "routing-service-edited, routing-repaired-at-once: a routing Service pointed at %s comes back",
    async (generation) => {
      await using lab = await openLab("routing-service-edited");
      const selecting = (value: string) => ({ spec: { selector: { "firebolt.io/generation": value } } });
      await serviceComesBack(lab, selecting(generation), selecting("0"));
      await lab.settled("e", 0);
      expect(lab.engine("e").status?.currentGeneration).toBe(0);
    },
  );

  test("routing-service-edited: a routing Service without its labels, or with another port, comes back", async () => {
    await using lab = await openLab("routing-service-edited-again");
    const ports = lab.history.latest("Service", "e-service")?.spec?.ports;
    const labelled = { metadata: { labels: { "firebolt.io/engine": "e" } } };
    await serviceComesBack(lab, { metadata: { labels: null } }, labelled);
    await serviceComesBack(lab, { spec: { ports: [{ name: "x", port: 1 }] } }, { spec: { ports } });
    expect(lab.history.latest("Service", "e-service")?.spec?.ports).toEqual(ports);
    await lab.settled("e", 0);
  });
});

describe.concurrent("a status", () => {
  test("unknown-phase: with a phase that nobody knows is led back to where its numbers point", async () => {
    await using lab = await openLab("unknown-phase");
    const key = inLab(lab, "e");
    await lab.client.patch(FireboltEngine, key, edit({ status: { phase: "paused" } }), { subresource: "status" });
    // A change of status alone starts no pass: this edit does, and rolls nothing.
    await lab.edit("e", { drainCheckInterval: "2s" });
    await lab.settled("e", 0);
    expect(lab.history.of("StatefulSet").filter(({ name }) => name !== "e-g0")).toEqual([]);
    expect(lab.broken({ status: true })).toEqual([]);
  });
});

describe.concurrent("leftovers", () => {
  /** An object of a generation, as the operator would have made it. */
  const leftover = (owner: FireboltEngine, generation: number, changes: V1ConfigMap["metadata"] = {}): V1ConfigMap => ({
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

  test("leftovers-of-many-generations, object-of-another-owner, sweep-takes-only-leftovers: sets of forgotten generations go, a hundred deletes at a time; newer and foreign ones stay", async () => {
    await using lab = await openEngineLab(plane, "leftovers-of-many-generations");
    await lab.createInstance();
    const first = await lab.operator();
    await lab.createEngine("e", { drainCheckInterval: "1s" });
    const engine = await lab.settled("e", 0);
    await first.stop();
    const FORGOTTEN = 40;
    const { spec: setSpec } = lab.statefulSet("e", 0) ?? {};
    const { spec: serviceSpec } = lab.history.latest("Service", "e-g0-hl") ?? {};
    if (setSpec === undefined || serviceSpec === undefined) throw new Error("no set to copy");
    const { clusterIP: _, clusterIPs: __, ...plainService } = serviceSpec;
    for (let generation = 1; generation <= FORGOTTEN; generation++) {
      const metadata = leftover(engine, generation).metadata ?? {};
      await Promise.all([
        lab.client.create(configMaps, { metadata }),
        lab.client.create(services, {
          metadata: { ...metadata, name: `e-g${generation}-hl` },
          spec: { ...plainService, clusterIP: "None" },
        }),
        lab.client.create(statefulSets, {
          metadata: { ...metadata, name: `e-g${generation}` },
          spec: { ...setSpec, replicas: 0 },
        }),
      ]);
    }
    await lab.client.create(configMaps, leftover(engine, 99, { name: "newer" }));
    await lab.client.create(configMaps, leftover(engine, 3, { name: "not-owned", ownerReferences: [] }));
    const status = { currentGeneration: FORGOTTEN + 1, activeGeneration: FORGOTTEN + 1 };
    await lab.client.patch(FireboltEngine, inLab(lab, "e"), edit({ status }), { subresource: "status" });
    const second = await lab.operator();
    await eventually(() => {
      expect(lab.history.present("StatefulSet").map(({ metadata }) => metadata?.name)).toEqual([`e-g${FORGOTTEN + 2}`]);
      expect(lab.history.present("Service")).toHaveLength(2);
      expect(lab.history.present("ConfigMap").map(({ metadata }) => metadata?.name)).toEqual([
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

  test("leftovers-behind-closed-gate, leftovers-swept: they go behind a closed gate too", async () => {
    await using lab = await openLab("leftovers-behind-closed-gate");
    await lab.edit("e", image("two"));
    await lab.settled("e", 1);
    await lab.edit("e", { template: { spec: { hostNetwork: true } } });
    await lab.until("e", (e) => readyOf(e)?.reason === "TemplateRejected", "refuses the template");
    const { metadata } = await lab.client.create(configMaps, leftover(lab.engine("e"), 0));
    await eventually(() => {
      const last = lab.history.of("ConfigMap", "e-g0-config").at(-1);
      return last?.change === "removed" && last.object.metadata?.uid === metadata?.uid;
    });
    expect(readyOf(lab.engine("e"))?.reason).toBe("TemplateRejected");
    expect(lab.engine("e").status).toMatchObject({ phase: "stable", currentGeneration: 1 });
    expect(lab.broken()).toEqual([]);
  });
});

describe.concurrent("pods that cannot be made", () => {
  test("pods-cannot-be-created: a quota shows on the engine within ten seconds, the old generation serves, and it clears by itself", async () => {
    const { clock, delaysMs } = recordingClock();
    await using lab = await openLab("pods-cannot-be-created", {}, clock);
    await lab.client.create(ResourceQuota, {
      metadata: { namespace: lab.namespace, name: "no-more" },
      spec: { hard: { pods: "2" } },
    });
    await eventually(
      async () => (await lab.client.get(ResourceQuota, inLab(lab, "no-more"))).status?.hard !== undefined,
    );
    await lab.edit("e", image("two"));
    await eventually(() => lab.statefulSet("e", 1) !== undefined);
    const delaysBefore = delaysMs.length;
    await untilComplaint(lab);
    const stuck = await lab.until("e", (e) => readyOf(e)?.reason === "FailedCreate", "says why");
    // By the operator's own clock: how long it meant to wait for its next look, whatever the machine made of it.
    expect(Math.max(...delaysMs.slice(delaysBefore))).toBeLessThan(10_000);
    expect(readyOf(stuck)?.message).toMatch(/^StatefulSet e-g1: .*exceeded quota.*/);
    expect(stuck.status).toMatchObject({ phase: "creating", currentGeneration: 1, activeGeneration: 0 });
    expect(lab.target("e")).toBe(0);
    await lab.client.delete(ResourceQuota, inLab(lab, "no-more"));
    // The longer it was refused, the longer the StatefulSet controller waits before it tries again.
    await lab.settled("e", 1, 180_000);
    expect(lab.broken()).toEqual([]);
  });

  test("pods-cannot-be-created: a missing ServiceAccount shows, and fixing the template abandons the generation", async () => {
    await using lab = await openLab("pods-cannot-be-created-again");
    await lab.edit("e", { template: { spec: { serviceAccountName: "nobody" } } });
    await untilComplaint(lab);
    const stuck = await lab.until("e", (e) => readyOf(e)?.reason === "FailedCreate", "says why");
    expect(readyOf(stuck)?.message).toContain("nobody");
    expect(lab.target("e")).toBe(0);
    await lab.edit("e", { template: { spec: { serviceAccountName: null, ...image("two").template.spec } } });
    await lab.settled("e", 2);
    expect(lab.broken()).toEqual([]);
  });

  test("events-cannot-be-listed: when events cannot be listed the reason stays generic and the rollout goes on", async () => {
    await using lab = await openEngineLab(plane, "events-cannot-be-listed");
    await lab.createInstance();
    let refusals = 0;
    const operator = await lab.operator({
      reads: (client) => ({
        ...client,
        list: (type, options) => {
          if (type.plural !== coreEvents.plural) return client.list(type, options);
          refusals += 1;
          return Promise.reject(new KubeApiError("GET events", 403, { reason: "Forbidden" }));
        },
      }),
    });
    await lab.createEngine("e", { template: { spec: { serviceAccountName: "nobody" } } });
    await eventually(() => refusals > 0);
    await lab.edit("e", { template: null });
    await lab.settled("e", 1);
    const reasons = lab.history.of("FireboltEngine", "e").map(({ object }) => readyOf(object)?.reason);
    expect(reasons).not.toContain("FailedCreate");
    expect(operator.log.some(({ message }) => message.includes("could not be listed"))).toBe(true);
  });
});
