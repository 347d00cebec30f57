// Another client deletes or edits an engine's objects. The operator restores them and records an event, and no query is
// lost.
import type { ResourceType } from "@firebolt-operator/kube";
import { expect } from "vitest";
import { LABEL } from "../../../src/api/labels.ts";
import { configMaps, pods, services, statefulSets } from "../../../src/engine/cluster/kinds.ts";
import { expectSettled, HAND, removeForGood } from "./expect.ts";
import type { Fault, Scene } from "./fault.ts";
import { ENGINES } from "./targets.ts";

interface Lost {
  readonly mayRetry?: true;
  readonly type: ResourceType;
  /** Behind the engine's name. */
  readonly suffix: string;
}

const lostChild = (name: string, { type, suffix, ...rest }: Lost): Fault => ({
  ...rest,
  name,
  target: ENGINES,
  engine: {},
  load: true,
  signs: { event: new RegExp(`^Normal ChildRestored: .*${type.kind} ${name}${suffix}`, "m") },
  async make(scene) {
    const remade = await removeForGood(scene, type, `${scene.engine}${suffix}`);
    return {
      async healed() {
        await remade();
        await expectSettled(scene);
      },
    };
  },
});

/** As `kubectl scale` does it. */
async function scale({ api, namespace, engine }: Scene, replicas: number): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets/${engine}-g0/scale?fieldManager=${HAND}`;
  const contentType = "application/merge-patch+json";
  await api.expect({ method: "PATCH", path, contentType, body: { spec: { replicas } } });
}

interface Scaling {
  readonly from: number;
  readonly to: number;
  /** The writer that the event names; a pattern. */
  readonly by: string;
}

const scaled = (name: string, { from, to, by }: Scaling): Fault => ({
  name,
  target: ENGINES,
  engine: { replicas: from },
  load: true,
  ...(to === 0 ? { mayRetry: true } : {}),
  signs: {
    event: new RegExp(
      `^Warning RolloutHeld: StatefulSet ${name}-g0 was edited by ${by} \\(spec\\.replicas\\), not through the FireboltEngine`,
      "m",
    ),
  },
  async make(scene) {
    await scale(scene, to);
    return {
      async healed() {
        await expectSettled(scene);
        const { cluster, namespace, engine } = scene;
        const labelSelector = `${LABEL.engine}=${engine}`;
        const { items } = await cluster.client.listAll(pods, { ...cluster.call, namespace, labelSelector });
        expect(items).toHaveLength(from);
      },
    };
  },
});

export const CHILD_FAULTS: readonly Fault[] = [
  lostChild("routing-service-deleted", { type: services, suffix: "-service", mayRetry: true }),
  lostChild("config-deleted", { type: configMaps, suffix: "-g0-config" }),
  lostChild("headless-service-deleted", { type: services, suffix: "-g0-hl" }),
  {
    name: "statefulset-deleted",
    target: ENGINES,
    engine: {},
    load: true,
    mayRetry: true,
    signs: {
      event: /^Normal ChildRestored: StatefulSet statefulset-deleted-g0 was deleted; generation 1 takes its place/m,
    },
    async make(scene) {
      await removeForGood(scene, statefulSets, `${scene.engine}-g0`).catch((error: unknown) => {
        throw new Error("the StatefulSet could not be deleted", { cause: error });
      });
      return { healed: () => expectSettled(scene) };
    },
  },
  // The API server stores no field manager for a scale to 0: that it was a scale is what there is to know.
  scaled("scaled-to-zero", {
    from: 1,
    to: 0,
    by: "a client of the scale subresource \\(kubectl scale, an autoscaler\\)",
  }),
  scaled("scaled-up", { from: 2, to: 4, by: HAND }),
];
