// Objects of an engine that policies reject or other clients edit, on a real control plane: a rejection is reported on
// the engine and clears soon after its cause, and a policy that edits every new StatefulSet cannot cause endless
// generations.
import { defineResource, type KubeObject } from "@firebolt-operator/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { image, openEngineHarness, readyOf } from "./support/engine-harness.ts";
import { generationsOf } from "./support/history-views.ts";

const ADMISSION = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false } as const;
interface Configured extends KubeObject {
  readonly spec: object;
}
const Policy = defineResource<Configured>({
  ...ADMISSION,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
});
const Binding = defineResource<Configured>({
  ...ADMISSION,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
});

/** How long the next generation waits, from the moment at which that was stored. */
function waitOf(status: FireboltEngine["status"]): readonly { readonly seconds: number; readonly attempts: number }[] {
  const { heldRollout, lastReconciled = "" } = status ?? {};
  if (heldRollout?.until === undefined) return [];
  const seconds = (Date.parse(heldRollout.until) - Date.parse(lastReconciled)) / 1_000;
  return [{ seconds, attempts: heldRollout.attempts }];
}

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

describe.concurrent("objects that are rejected or edited", () => {
  test("refusals-show-on-resource: a 403 of a policy is shown in Ready, the active generation keeps serving, and recovery takes at most one gate interval", async () => {
    await using harness = await openEngineHarness(plane, "denied");
    const { namespace, client } = harness;
    await harness.createInstance();
    await harness.operator();
    await harness.createEngine("e");
    await harness.settled("e", 0);
    const rule = { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["statefulsets"] };
    const message = "no more StatefulSets for this team";
    const spec = {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: "false", message, reason: "Forbidden" }],
    };
    await client.create(Policy, { metadata: { name: namespace }, spec });
    const selector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
    const binding = {
      policyName: namespace,
      validationActions: ["Deny"],
      matchResources: { namespaceSelector: selector },
    };
    await client.create(Binding, { metadata: { name: namespace }, spec: binding });
    // The API server needs a moment to observe a policy.
    const probe = {
      metadata: { namespace, generateName: "probe-" },
      spec: {
        serviceName: "x",
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "example.com/c" }] } },
      },
    };
    // Not by `expect().rejects`: among concurrent tests an attempt that fails would count for another one.
    await eventually(async () => {
      const outcome = await client.create(statefulSets, probe, { dryRun: true }).then(() => "created", String);
      return outcome.includes(message);
    });
    await harness.edit("e", image("two"));
    const denied = await harness.until("e", (e) => readyOf(e)?.reason === "ObjectRejected", "reports the rejection");
    expect(readyOf(denied)?.message).toContain(message);
    expect(harness.target("e")).toBe(0);
    await client.delete(Binding, { name: namespace }, {});
    await client.delete(Policy, { name: namespace }, {});
    // As above: it keeps denying until it has observed the deletion of the policy, and a denial then costs another
    // requeue of a gate (30 s).
    await eventually(() => client.create(statefulSets, probe, { dryRun: true }), { timeoutMs: 60_000 });
    await harness.settled("e", 1, 150_000);
  });

  test("an agent that edits every new StatefulSet gets ever fewer generations, and an event that names it", async () => {
    await using harness = await openEngineHarness(plane, "edited");
    const { namespace, client } = harness;
    await harness.createInstance();
    await harness.operator();
    const stop = new AbortController();
    const edited = new Set<string>();
    const agent = (async () => {
      while (!stop.signal.aborted) {
        for (const { metadata } of harness.history.present("StatefulSet")) {
          const { name = "", uid = "", deletionTimestamp } = metadata ?? {};
          if (edited.has(uid) || deletionTimestamp !== undefined) continue;
          edited.add(uid);
          const body = { spec: { template: { metadata: { annotations: { "example.com/stamp": uid } } } } };
          await client
            .patch(statefulSets, { namespace, name }, { type: "merge", body }, { fieldManager: "stamping-agent" })
            .catch(() => undefined);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    try {
      await harness.createEngine("e", { replicas: 0 });
      const isHeld = ({ status }: FireboltEngine): boolean =>
        status?.heldRollout?.attempts === 3 && status.heldRollout.until !== undefined;
      const held = await harness.once("e", isHeld, "waits for the fourth time in a row");
      // 1 s, 2 s, 4 s and now 8 s, each rounded up to a whole second.
      const waits = harness.history.of("FireboltEngine", "e").flatMap(({ object }) => waitOf(object.status));
      expect(waits.filter(({ seconds, attempts }) => seconds < 2 ** attempts - 1)).toEqual([]);
      expect(held.status?.heldRollout?.field).toContain("spec.template.metadata.annotations");
      const versions = harness.history.of("FireboltEngine", "e");
      const untilHeld = versions.slice(0, versions.findIndex(({ object }) => isHeld(object)) + 1);
      const generations = new Set(untilHeld.flatMap(({ object }) => object.status?.currentGeneration ?? []));
      expect(generations.size).toBeLessThanOrEqual(6);
      await harness.once("e", (e) => e.status?.heldRollout?.manager === "stamping-agent", "names the agent");
    } finally {
      stop.abort();
      await agent;
    }
    // A change of the spec explains a generation: it does not wait.
    await harness.edit("e", image("two"));
    const last = generationsOf(harness, "e").length;
    await harness.until(
      "e",
      (e) => e.status?.heldRollout === undefined,
      "starts the generation of the edit immediately",
    );
    expect(generationsOf(harness, "e").length).toBeGreaterThanOrEqual(last);
    await eventually(() => harness.engine("e").status?.phase === "stopped");
  });

  test("an interval of a millisecond is a second", async () => {
    await using harness = await openEngineHarness(plane, "hot");
    await harness.createInstance();
    await harness.operator();
    await harness.createEngine("e", { replicas: 1, drainCheckInterval: "1ms" });
    await harness.settled("e", 0);
    const [pod] = harness.pods("e", 0);
    const address = pod?.status?.podIP ?? "";
    harness.queries(pod, "broken");
    await harness.edit("e", image("two"));
    await harness.until("e", (e) => readyOf(e)?.reason === "DrainCheckFailing", "cannot scrape");
    const [before, startedMs] = [plane.metrics.asked(address), Date.now()];
    await eventually(() => plane.metrics.asked(address) >= before + 4);
    expect(Date.now() - startedMs).toBeGreaterThan(2_500);
  });

  test("an engine whose name is no label value can be updated and deleted", async () => {
    await using harness = await openEngineHarness(plane, "long-name");
    await harness.createInstance();
    await harness.operator();
    const name = "e".repeat(64);
    await harness.createEngine(name);
    await harness.until(name, (e) => readyOf(e)?.reason === "NameRejected", "reports that the name is too long");
    await harness.edit(name, { replicas: 1 });
    const key = { namespace: harness.namespace, name };
    await harness.client.delete(FireboltEngine, key, {});
    await eventually(async () => (await harness.client.find(FireboltEngine, key)) === undefined);
  });
});
