// Faults of the operator itself: taken away, without permissions, without the Service of its webhooks. They disturb everything in the
// cluster: one after the other, with nothing beside them.
import { defineResource, type KubeObject } from "@firebolt-operator/kube";
import { valueAt } from "@firebolt-operator/kube/testing";
import { expect } from "vitest";
import { OPERATOR_NAME, OPERATOR_NAMESPACE } from "../../../dev/deploy/charts.ts";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { pods, services, statefulSets } from "../../../src/engine/cluster/kinds.ts";
import { KINDS } from "../../../src/instance/cluster/kinds.ts";
import { causeFault } from "../support/node-control.ts";
import { FAULTS_OPERATOR_VALUES } from "../support/platform.ts";
import { asNew, editContainer, editEngine, engineOf, expectSettled } from "./expect.ts";
import type { Fault, Scene } from "./fault.ts";
import { stopEngine, wakeByQuery } from "./gateway-faults.ts";
import { OPERATED } from "./targets.ts";
import { until } from "./wait.ts";

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}
interface ClusterRole extends KubeObject {
  rules?: readonly Rule[];
}
const clusterRoles = defineResource<ClusterRole>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
});

const base = { target: OPERATED, engine: {} } as const;
const MANAGER = { namespace: OPERATOR_NAMESPACE, name: OPERATOR_NAME };
const WEBHOOK = { namespace: OPERATOR_NAMESPACE, name: `${OPERATOR_NAME}-webhook` };

/** Takes verbs on a resource away from a role of the operator; what it returns gives them back. */
async function forbid(
  { cluster: { client, call } }: Scene,
  { role, resource, verbs }: { readonly role: string; readonly resource: string; readonly verbs: readonly string[] },
): Promise<() => Promise<unknown>> {
  const key = { name: `${OPERATOR_NAME}-${role}` };
  const { rules = [] } = await client.get(clusterRoles, key, call);
  const put = (changed: readonly Rule[]) =>
    client.patch(clusterRoles, key, { type: "merge", body: { rules: changed } }, call);
  await put(
    rules.flatMap((rule): Rule[] => {
      if (rule.resources?.includes(resource) !== true) return [rule];
      const kept = rule.verbs.filter((verb) => !verbs.includes(verb));
      const others = rule.resources.filter((one) => one !== resource);
      return [
        ...(others.length === 0 ? [] : [{ ...rule, resources: others }]),
        ...(kept.length === 0 ? [] : [{ ...rule, resources: [resource], verbs: kept }]),
      ];
    }),
  );
  return () => put(rules);
}

async function scaleManager({ cluster: { client, call } }: Scene, replicas: number): Promise<void> {
  await client.patch(KINDS.Deployment, MANAGER, { type: "merge", body: { spec: { replicas } } }, call);
}

async function managerPods({ cluster: { client, call } }: Scene) {
  const labelSelector = "control-plane=controller-manager";
  return (await client.listAll(pods, { ...call, namespace: OPERATOR_NAMESPACE, labelSelector })).items;
}

async function expectManager({ cluster: { client, call } }: Scene): Promise<void> {
  const { spec, status } = await client.get(KINDS.Deployment, MANAGER, call);
  expect(status?.readyReplicas).toBe(spec?.replicas);
}

/** Who may not do what. */
const NO_STATEFUL_SETS =
  'User "system:serviceaccount:firebolt-operator:firebolt-operator" cannot create resource "statefulsets" in API group "apps"';

const ROLL = "ROLL";
const roll = (scene: Scene, value: string) => editContainer(scene, { env: [{ name: ROLL, value }] });

export const OPERATOR_FAULTS: readonly Fault[] = [
  {
    ...base,
    name: "statefulsets-forbidden",
    load: true,
    signs: {
      condition: new RegExp(`^Ready=False ObjectRejected: .*${NO_STATEFUL_SETS}`, "m"),
      event: new RegExp(`^Warning ObjectRejected: .*${NO_STATEFUL_SETS}`, "m"),
      status: new RegExp(
        `statefulsets-forbidden .*\\n.*waits: .*${NO_STATEFUL_SETS}.*\\n.*next: +grant the operator the permission named: upgrade its Helm release`,
      ),
    },
    async make(scene) {
      const allow = await forbid(scene, { role: "manager", resource: "statefulsets", verbs: ["create"] });
      await roll(scene, "forbidden");
      return { mend: allow, healed: () => expectSettled(scene) };
    },
  },
  {
    ...base,
    name: "drain-check-forbidden",
    load: true,
    signs: {
      condition: /^Ready=\w+ DrainCheckFailing: .*403 Forbidden: .* cannot get resource "pods\/proxy"/m,
      event: /^Warning DrainCheckFailing: .*403 Forbidden: .* cannot get resource "pods\/proxy"/m,
      status: /waits: .*cannot get resource "pods\/proxy".*\n.*next: +allow the operator to get pods\/proxy/,
    },
    async make(scene) {
      const allow = await forbid(scene, { role: "apiserver-proxy", resource: "pods/proxy", verbs: ["get"] });
      await roll(scene, "unasked");
      return { mend: allow, healed: () => expectSettled(scene) };
    },
  },
  {
    ...base,
    name: "auto-stop-forbidden",
    engine: { autoStop: { enabled: true, activeReplicas: 1, idleTimeout: "1h", pollInterval: "1s" } },
    signs: {
      condition:
        /^Ready=True .*auto-stop cannot determine whether queries run.* cannot get resource "pods\/proxy".*next: allow/m,
      event: /^Warning AutoStopScrapeFailed: .*403 Forbidden: .* cannot get resource "pods\/proxy".*next: allow/m,
      status: /auto-stop-forbidden .*cannot read the activity of its pods/,
    },
    async make(scene) {
      const allow = await forbid(scene, { role: "apiserver-proxy", resource: "pods/proxy", verbs: ["get"] });
      return {
        mend: allow,
        async healed() {
          expect((await engineOf(scene)).status?.autoStopReason).not.toBe("ScrapeFailed");
          await expectSettled(scene);
        },
      };
    },
  },
  {
    ...base,
    name: "webhook-service-deleted",
    signs: { refusal: /failed calling webhook.*firebolt-operator-webhook/ },
    async make(scene) {
      const { client, call } = scene.cluster;
      await stopEngine(scene);
      const service = await client.get(services, WEBHOOK, call);
      await client.delete(services, WEBHOOK, call);
      // Until then the API server keeps the connections it has.
      const { controlSocket } = scene.context;
      await causeFault(controlSocket, "stop-api-server");
      await causeFault(controlSocket, "start-api-server");
      const refusal = await refusedEdit(scene);
      // The operator's own writes do not pass through its webhooks: a query still wakes the engine.
      await wakeByQuery(scene);
      return {
        refusal,
        mend: () => client.create(services, asNew(service), call),
        async healed() {
          await editEngine(scene, { drainCheckInterval: "2s" });
          await expectSettled(scene);
        },
      };
    },
  },
  {
    ...base,
    name: "operator-scaled-to-zero",
    load: true,
    signs: {
      status: /operator firebolt-operator\/firebolt-operator is scaled to 0.*\n.*next: .*kubectl scale deployment/,
    },
    async make(scene) {
      const { client, call } = scene.cluster;
      await editContainer(scene, { env: [{ name: "FAKE_START_DELAY_MS", value: "3000" }] });
      const key = { namespace: scene.namespace, name: `${scene.engine}-g1` };
      await until("the new generation", () => client.get(statefulSets, key, call));
      await scaleManager(scene, 0);
      await until("an operator without pods", async () => expect(await managerPods(scene)).toEqual([]));
      return {
        mend: () => scaleManager(scene, FAULTS_OPERATOR_VALUES.replicaCount),
        async healed() {
          await expectManager(scene);
          await expectSettled(scene);
        },
      };
    },
  },
  {
    ...base,
    name: "operator-cannot-list-pods",
    load: true,
    signs: { status: /operator firebolt-operator\/firebolt-operator has no ready pod.*\n.*next: .*kubectl logs/ },
    async make(scene) {
      const { client, call } = scene.cluster;
      const allow = await forbid(scene, { role: "manager", resource: "pods", verbs: ["list", "watch"] });
      const old = await managerPods(scene);
      for (const { metadata } of old)
        await client.delete(pods, { namespace: OPERATOR_NAMESPACE, name: metadata?.name ?? "" }, call);
      return {
        mend: allow,
        async healed() {
          await expectManager(scene);
          await expectSettled(scene);
        },
      };
    },
  },
];

/** The response to an edit, as soon as the API server calls the webhook again. */
function refusedEdit(scene: Scene): Promise<string> {
  const path = `/apis/${FireboltEngine.group}/${FireboltEngine.version}/namespaces/${scene.namespace}/fireboltengines/${scene.engine}`;
  return until("an edit that is rejected", async () => {
    const contentType = "application/merge-patch+json";
    const body = { spec: { drainCheckInterval: "3s" } };
    const response = await scene.api.send({ method: "PATCH", path, contentType, body });
    expect(response.status).toBe(500);
    return `${response.status}: ${valueAt(response.body, ["message"])}`;
  });
}
