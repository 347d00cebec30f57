// Pods of an engine that do not become ready during a roll: the old generation keeps serving, and no query is lost.
import { defineResource, type KubeObject } from "@firebolt-operator/kube";
import { expect } from "vitest";
import { applyManifests } from "../../../dev/deploy/manifests.ts";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { pods } from "../../../src/engine/cluster/kinds.ts";
import { editContainer, editEngine, engineOf, expectSettled, read, remove } from "./expect.ts";
import type { Fault, Scene } from "./fault.ts";
import { ENGINES, faultEngine, LIMITED } from "./targets.ts";
import { until } from "./wait.ts";

const core = { group: "", version: "v1", namespaced: true } as const;
const quotas = defineResource<KubeObject>({ ...core, kind: "ResourceQuota", plural: "resourcequotas" });
const limitRanges = defineResource<KubeObject>({ ...core, kind: "LimitRange", plural: "limitranges" });

const healed = (scene: Scene) => () => expectSettled(scene);
/** The last template that worked. */
const asBefore = (scene: Scene) => () => editContainer(scene, { image: null, env: null, resources: null });

async function restartsOf(scene: Scene): Promise<number> {
  const pod = await read(scene, pods, `${scene.engine}-g1-0`);
  return pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
}

export const ENGINE_FAULTS: readonly Fault[] = [
  {
    name: "image-not-pulled",
    target: ENGINES,
    engine: {},
    load: true,
    signs: {
      condition: /^Ready=False .*pod image-not-pulled-g1-0: .*image .* cannot be pulled/m,
      event: /^Warning PodFailing: .*image .* cannot be pulled.*(image reference|pull secrets)/m,
      status: /pod image-not-pulled-g1-0: .*image .* cannot be pulled.*\n.*next: .*image reference or the pull secrets/,
    },
    async make(scene) {
      await editContainer(scene, { image: "localhost/firebolt/engine:no-such-tag" });
      return { mend: asBefore(scene), healed: healed(scene) };
    },
  },
  {
    name: "crash-loop",
    target: ENGINES,
    engine: {},
    load: true,
    signs: {
      condition: /^Ready=False .*pod crash-loop-g1-0: .*container engine crashes .*exit code 1/m,
      event: /^Warning PodFailing: .*container engine crashes.*kubectl logs crash-loop-g1-0 /m,
      status: /pod crash-loop-g1-0: .*container engine crashes.*\n.*next: .*kubectl (firebolt )?logs .*--previous/,
    },
    async make(scene) {
      // Before it gets ready: a probe may well see it in half a second.
      const env = [
        { name: "FAKE_EXIT_AFTER_MS", value: "500" },
        { name: "FAKE_NEVER_READY", value: "1" },
      ];
      await editContainer(scene, { env });
      return {
        // Between two crashes the container runs, and the cause is the same.
        async outlast() {
          const before = await restartsOf(scene);
          await until("one more restart", async () => expect(await restartsOf(scene)).toBeGreaterThan(before));
        },
        mend: asBefore(scene),
        healed: healed(scene),
      };
    },
  },
  {
    name: "crash-when-serving",
    target: ENGINES,
    engine: {},
    signs: {
      condition: /^Ready=False PodsNotReady: .*pod crash-when-serving-g1-0: .*container engine crashes .*exit code 1/m,
      event: /^Warning PodFailing: .*container engine crashes.*kubectl logs crash-when-serving-g1-0 /m,
      status:
        /pod crash-when-serving-g1-0: .*container engine crashes.*\n.*next: .*kubectl (firebolt )?logs .*--previous/,
    },
    async make(scene) {
      // Long enough to get ready, and to take over from a generation that has nothing to drain.
      await editContainer(scene, { env: [{ name: "FAKE_EXIT_AFTER_MS", value: "20000" }] });
      await until("the new generation at rest", async () =>
        expect((await engineOf(scene)).status).toMatchObject({ phase: "stable", activeGeneration: 1 }),
      );
      return { mend: asBefore(scene), healed: healed(scene) };
    },
  },
  {
    name: "never-ready",
    target: ENGINES,
    engine: {},
    load: true,
    signs: {
      condition:
        /^Ready=False .*pod never-ready-g1-0: .*container engine runs, but its (readiness|startup) probe fails/m,
      event: /^Warning PodFailing: .*probe fails.*kubectl describe pod never-ready-g1-0/m,
      status: /pod never-ready-g1-0: .*probe fails.*\n.*next: .*kubectl describe pod never-ready-g1-0/,
    },
    async make(scene) {
      await editContainer(scene, { env: [{ name: "FAKE_NEVER_READY", value: "1" }] });
      return { mend: asBefore(scene), healed: healed(scene) };
    },
  },
  {
    name: "no-room",
    target: ENGINES,
    engine: {},
    load: true,
    signs: {
      condition: /^Ready=False .*pod no-room-g1-0: .*Insufficient cpu/m,
      event: /^Warning PodFailing: .*Insufficient cpu/m,
      status: /pod no-room-g1-0.*Insufficient cpu.*\n.*next: +\S/,
    },
    async make(scene) {
      await editContainer(scene, { resources: { requests: { cpu: "64" } } });
      return { mend: asBefore(scene), healed: healed(scene) };
    },
  },
  {
    name: "no-matching-node",
    target: ENGINES,
    engine: {},
    load: true,
    signs: {
      condition: /^Ready=False .*pod no-matching-node-g1-0: cannot be scheduled: .*node affinity\/selector/m,
      event: /^Warning PodFailing: .*node affinity\/selector.*correct nodeSelector or affinity/m,
      status: /pod no-matching-node-g1-0: .*node affinity\/selector.*\n.*next: +correct nodeSelector or affinity/,
    },
    async make(scene) {
      await editEngine(scene, { template: { spec: { nodeSelector: { "example.com/pool": "gone" } } } });
      return {
        mend: () => editEngine(scene, { template: { spec: { nodeSelector: null } } }),
        healed: healed(scene),
      };
    },
  },
  {
    name: "missing-instance",
    target: ENGINES,
    signs: {
      condition: /^Ready=False InstanceNotReady: .*"mian"/m,
      status: /no such instance[\s\S]*missing-instance.*\n.*waits: .*mian/,
    },
    async make(scene) {
      const { cluster, namespace, engine } = scene;
      await applyManifests(cluster, [faultEngine({ namespace, engine, instance: "mian" }, {})]);
      return {
        // The reference cannot be changed.
        async mend() {
          await remove(scene, FireboltEngine, engine);
          await until("the end of the engine", async () =>
            expect(
              await cluster.client.find(FireboltEngine, { namespace, name: engine }, cluster.call),
            ).toBeUndefined(),
          );
          await applyManifests(cluster, [faultEngine(scene, {})]);
        },
        healed: healed(scene),
      };
    },
  },
];

/** Pods that the API server rejects because of a policy of the namespace. */
const limitFault = (
  name: string,
  limit: { readonly type: typeof quotas; readonly spec: object; readonly says: string },
): Fault => ({
  name,
  target: LIMITED,
  engine: {},
  load: true,
  signs: {
    condition: new RegExp(`^Ready=False FailedCreate: StatefulSet ${name}-g1: .*${limit.says}`, "m"),
    event: new RegExp(`^Warning PodFailing: StatefulSet ${name}-g1: .*${limit.says}`, "m"),
    status: new RegExp(`waits: .*${name}-g1.*${limit.says}.*\\n.*next: +\\S`),
  },
  async make(scene) {
    const { cluster, namespace } = scene;
    const apiVersion = "v1";
    const manifest = { apiVersion, kind: limit.type.kind, metadata: { name, namespace }, spec: limit.spec };
    await cluster.client.create(limit.type, manifest, cluster.call);
    await editContainer(scene, { env: [{ name: "ROLL", value: name }] });
    return { mend: () => remove(scene, limit.type, name), healed: healed(scene) };
  },
});

export const LIMIT_FAULTS: readonly Fault[] = [
  limitFault("quota", { type: quotas, spec: { hard: { pods: "1" } }, says: "exceeded quota: quota" }),
  limitFault("limit-range", {
    type: limitRanges,
    spec: { limits: [{ type: "Container", max: { memory: "512Mi" } }] },
    says: "maximum memory usage per Container is 512Mi",
  }),
];
