// Deletions with more effect than intended: an instance whose engines serve, and a whole namespace.
import { expect } from "vitest";
import { namespaces } from "../../../dev/deploy/namespace.ts";
import { query } from "../../../dev/deploy/query.ts";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import { pods } from "../../../src/engine/cluster/kinds.ts";
import { gatewayOf } from "../support/cluster-harness.ts";
import { editContainer, engineOf, remove } from "./expect.ts";
import type { Fault } from "./fault.ts";
import { DELETED, ENDING } from "./targets.ts";
import { until } from "./wait.ts";

export const DELETION_FAULTS: readonly Fault[] = [
  {
    name: "instance-deleted",
    target: DELETED,
    engine: {},
    subject: "instance",
    signs: {
      condition: /^Ready=False DeletionBlocked: .*instance-deleted.*unless volumeRetention is Retain/m,
      event: /^Warning DeletionBlocked: .*instance-deleted.*--overwrite firebolt\.io\/delete-despite-engines/m,
      status: /held .*[\s\S]*?waits: .*instance-deleted/,
    },
    async make(scene) {
      const { cluster, namespace, instance, engine } = scene;
      const gateway = await gatewayOf(cluster, scene);
      await remove(scene, FireboltInstance, instance);
      return {
        // Everything is still there.
        async outlast() {
          const { status, body } = await query({ gateway, engine, sql: "SELECT 42" });
          expect(status, body).toBe(200);
        },
        mend: () => remove(scene, FireboltEngine, engine),
        async healed() {
          const key = { namespace, name: instance };
          expect(await cluster.client.find(FireboltInstance, key, cluster.call)).toBeUndefined();
        },
      };
    },
  },
  {
    name: "namespace-deleted",
    target: ENDING,
    engine: {},
    signs: { status: /namespace faults-ending is being deleted/ },
    async make(scene) {
      const { cluster, namespace } = scene;
      const slow = [{ name: "FAKE_START_DELAY_MS", value: "600000" }];
      await editContainer(scene, { env: slow });
      await until("a roll", async () => expect((await engineOf(scene)).status?.phase).toBe("creating"));
      await cluster.client.delete(namespaces, { name: namespace }, cluster.call);
      return {
        // Left alone, the namespace controller looks again after half of a gateway's grace period, which is five minutes; after an
        // edit of the namespace it does so at once.
        async mend() {
          await until("the end of its pods", async () => {
            const { items } = await cluster.client.listAll(pods, { ...cluster.call, namespace });
            expect(items.map(({ metadata }) => metadata?.name)).toEqual([]);
          });
          const body = { metadata: { annotations: { "example.com/look-again": "now" } } };
          await cluster.client.patch(namespaces, { name: namespace }, { type: "merge", body }, cluster.call);
        },
        async healed() {
          expect(await cluster.client.find(namespaces, { name: namespace }, cluster.call)).toBeUndefined();
        },
      };
    },
  },
];
