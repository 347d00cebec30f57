// Somebody deletes or edits what a gateway is made of, or gives it an image that does not exist. One after the other, on one instance.
import type { ResourceType } from "@firebolt-operator/kube";
import { expect } from "vitest";
import { query } from "../../../dev/deploy/query.ts";
import { LABEL } from "../../../src/api/labels.ts";
import { pods } from "../../../src/engine/cluster/kinds.ts";
import { KINDS } from "../../../src/instance/cluster/kinds.ts";
import { gatewayConfigName, gatewayName } from "../../../src/instance/model/names.ts";
import { gatewayOf } from "../support/cluster-harness.ts";
import {
  editEngine,
  editInstance,
  editObject,
  expectInstanceReady,
  expectSettled,
  expectStopped,
  HAND,
  read,
  remove,
  removeForGood,
} from "./expect.ts";
import type { Fault, Scene } from "./fault.ts";
import { GATEWAY } from "./targets.ts";
import { until } from "./wait.ts";

const base = { target: GATEWAY, engine: {}, subject: "instance", load: true } as const;

const lost = (name: string, type: ResourceType): Fault => ({
  ...base,
  name,
  signs: { event: new RegExp(`^Normal ChildRestored: .*${type.kind} ${gatewayName(GATEWAY.instance)}`, "m") },
  async make(scene) {
    const remade = await removeForGood(scene, type, gatewayName(scene.instance));
    return {
      async healed() {
        await remade();
        await expectInstanceReady(scene);
      },
    };
  },
});

/** Those that stay. */
async function gatewayPods({ cluster, namespace, instance }: Scene): Promise<readonly string[]> {
  const labelSelector = `${LABEL.instance}=${instance},${LABEL.component}=gateway`;
  const { items } = await cluster.client.listAll(pods, { ...cluster.call, namespace, labelSelector });
  return items.flatMap(({ metadata }) => (metadata?.deletionTimestamp === undefined ? (metadata?.name ?? []) : []));
}

/** A query for a stopped engine is held, and gets its response once the engine serves. */
export async function wakeByQuery(scene: Scene): Promise<void> {
  const gateway = await gatewayOf(scene.cluster, scene);
  const { status, body } = await query({ gateway, engine: scene.engine, sql: "SELECT 42" });
  expect(`${status} ${body}`).toMatch(/^200 .*42/s);
}

export async function stopEngine(scene: Scene): Promise<void> {
  await editEngine(scene, { replicas: 0, autoStop: { enabled: true, activeReplicas: 1, idleTimeout: "1h" } });
  await until(`${scene.engine} stopped`, () => expectStopped(scene));
}

export const GATEWAY_FAULTS: readonly Fault[] = [
  {
    ...base,
    name: "gateway-config-edited",
    signs: {
      event: new RegExp(`^Normal ChildRestored: .*ConfigMap ${gatewayConfigName(GATEWAY.instance)}.*${HAND}`, "m"),
    },
    async make(scene) {
      const name = gatewayConfigName(scene.instance);
      const { data } = await read(scene, KINDS.ConfigMap, name);
      await editObject(scene, KINDS.ConfigMap, { name, body: { data: { "envoy.yaml": "static_resources: {}" } } });
      return {
        async healed() {
          expect((await read(scene, KINDS.ConfigMap, name)).data).toEqual(data);
          await expectInstanceReady(scene);
        },
      };
    },
  },
  lost("gateway-role-deleted", KINDS.Role),
  lost("gateway-binding-deleted", KINDS.RoleBinding),
  {
    ...base,
    name: "gateway-role-emptied",
    signs: { event: new RegExp(`^Normal ChildRestored: .*Role ${gatewayName(GATEWAY.instance)}.*${HAND}`, "m") },
    async make(scene) {
      const name = gatewayName(scene.instance);
      const { rules } = await read(scene, KINDS.Role, name);
      await editObject(scene, KINDS.Role, { name, body: { rules: [] } });
      return {
        async healed() {
          expect((await read(scene, KINDS.Role, name)).rules).toEqual(rules);
        },
      };
    },
  },
  {
    ...base,
    name: "gateway-binding-emptied",
    // An empty list is an absent field, and the API server keeps no field manager of that.
    signs: {
      event: /^Normal ChildRestored: RoleBinding doors-gateway was changed by another writer and has been restored/m,
    },
    async make(scene) {
      const name = gatewayName(scene.instance);
      const { subjects } = await read(scene, KINDS.RoleBinding, name);
      await editObject(scene, KINDS.RoleBinding, { name, body: { subjects: [] } });
      return {
        async healed() {
          expect((await read(scene, KINDS.RoleBinding, name)).subjects).toEqual(subjects);
        },
      };
    },
  },
  {
    ...base,
    name: "gateway-pod-deleted",
    // The Deployment recreates it in seconds: Kubernetes records that, and the operator adds nothing.
    signs: { kubernetes: /^Normal Killing Pod doors-gateway-\S+: Stopping container envoy/m },
    async make(scene) {
      const before = await gatewayPods(scene);
      await remove(scene, pods, before[0] ?? "");
      return {
        async healed() {
          const now = await gatewayPods(scene);
          expect(now).toHaveLength(before.length);
          expect(now).not.toContain(before[0]);
          await expectInstanceReady(scene);
        },
      };
    },
  },
  lost("gateway-deployment-deleted", KINDS.Deployment),
  {
    ...base,
    name: "gateway-account-deleted",
    load: false,
    signs: { event: /^Warning GatewayRestarted: ServiceAccount doors-gateway was deleted and created again/m },
    async make(scene) {
      const remade = await removeForGood(scene, KINDS.ServiceAccount, gatewayName(scene.instance));
      await stopEngine(scene);
      return {
        // The tokens of the old account are invalid: gateways that still use one cannot wake engines.
        async healed() {
          await remade();
          await wakeByQuery(scene);
          await expectSettled(scene);
          await expectInstanceReady(scene);
        },
      };
    },
  },
  {
    ...base,
    name: "gateway-image-not-pulled",
    signs: {
      condition: /^GatewayReady=\w+ .*image .* cannot be pulled/m,
      event: /^Warning PodFailing: .*image .* cannot be pulled/m,
      status: /doors .*[\s\S]*?image .* cannot be pulled.*\n.*next: .*image reference or the pull secrets/,
    },
    async make(scene) {
      const image = "localhost/firebolt/envoy:no-such-tag";
      await editInstance(scene, { gateway: { template: { spec: { containers: [{ name: "envoy", image }] } } } });
      return {
        mend: () => editInstance(scene, { gateway: { template: null } }),
        healed: () => expectInstanceReady(scene),
      };
    },
  },
];
