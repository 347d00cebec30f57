// A life of an instance, a class and engines that makes the manager use everything it may: create, roll, stop, start, repair, get
// stuck, delete. Acts and looks as administrator, never as the manager.
import { collectionPath } from "@firebolt-operator/kube";
import { type Api, valueAt } from "@firebolt-operator/kube/testing";
import { expect } from "vitest";
import { LABEL } from "../../../src/api/labels.ts";
import { KINDS } from "../../../src/instance/cluster/kinds.ts";
import { CHILDREN, renderedNames } from "../../../src/instance/model/child-kinds.ts";
import { eventually } from "../../harness/control-plane/requests.ts";
import { engine, engineClass, instance } from "../../harness/fixtures/manifests.ts";
import { type Need, ownerNeeds, passedOn } from "../../harness/helm/rbac-grants.ts";

const PATIENCE = { timeoutMs: 150_000 };
const MERGE = "application/merge-patch+json";
/** Every kind of object that instances and engines own; engines own no other kind than instances do. */
const CHILD_LISTS = Object.values(KINDS).map((type) => collectionPath(type).slice(1));
/** One object of every kind that an instance renders: where there are several, the last one, which is the gateway's. */
const RENDERED = [...new Map(renderedNames("main"))].map(([kind, name]) => ({ kind, name }));
const PLURALS = new Map([
  ["FireboltEngine", "fireboltengines"],
  ["FireboltInstance", "fireboltinstances"],
  ["FireboltEngineClass", "fireboltengineclasses"],
]);

export interface Scenario {
  /** Until instance, class and engines are ready, and one engine is stuck. */
  create(): Promise<void>;
  roll(): Promise<void>;
  /** The stuck engine is edited: its pending generation is abandoned. */
  giveUp(): Promise<void>;
  stopAndStart(): Promise<void>;
  /** A stopped engine that a client requests at a gateway, until it runs. */
  wake(): Promise<void>;
  /** A StatefulSet is deleted and its pods are orphaned: the manager deletes them once the next generation serves. */
  orphan(): Promise<void>;
  /** Takes away what the manager must put back. */
  damage(): Promise<void>;
  /** Grows the volume of the built-in PostgreSQL, retains its password, and takes the label off its claim for a while. */
  reshape(hasLooked: () => boolean): Promise<void>;
  /** Changes the instance under the manager's hands until it has looked again. */
  contend(hasLooked: () => boolean): Promise<void>;
  /** The permissions that follow from the objects that the manager created. */
  needsOfChildren(): Promise<readonly Need[]>;
  /** Until nothing is left. */
  remove(): Promise<void>;
}

export interface ScenarioOptions {
  /** Whether gateways have Roles of their own. Default true. */
  readonly roles?: boolean;
}

/** The engine that `wake` waits for. */
export const SLEEPER = "sleeper";

export function openScenario(api: Api, namespace: string, { roles = true }: ScenarioOptions = {}): Scenario {
  const ours = `/apis/compute.firebolt.io/v1alpha1/namespaces/${namespace}`;
  const post = (plural: string, body: object) => api.expect({ method: "POST", path: `${ours}/${plural}`, body });
  const read = async (plural: string, name: string): Promise<unknown> =>
    (await api.expect({ path: `${ours}/${plural}/${name}` }, [404])).body;
  const edit = (name: string, spec: object) =>
    api.expect({ method: "PATCH", path: `${ours}/fireboltengines/${name}`, body: { spec }, contentType: MERGE });
  const listPath = (kind: string): string => {
    const at = kind.lastIndexOf("/");
    return `/${kind.slice(0, at)}/namespaces/${namespace}${kind.slice(at)}`;
  };
  const engineIs = (status: object) =>
    eventually(async () => expect(await read("fireboltengines", "alpha")).toMatchObject({ status }), PATIENCE);
  /** The ClusterRole that a binding binds in its own namespace. */
  const sharedRole = async (child: unknown): Promise<unknown> => {
    if (valueAt(child, ["roleRef", "kind"]) !== "ClusterRole") return undefined;
    const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${valueAt(child, ["roleRef", "name"])}`;
    return { rules: valueAt((await api.expect({ path })).body, ["rules"]), metadata: { namespace } };
  };
  const remove = (path: string) => api.expect({ method: "DELETE", path }, [404]);
  /** The second event of a kind is a patch of the first one, once that has been written. */
  const repairTwice = async (): Promise<void> => {
    const service = `${listPath("api/v1/services")}/alpha-service`;
    const toldTimes = async (): Promise<number> => {
      const { body } = await api.expect({ path: listPath("apis/events.k8s.io/v1/events") });
      const items = valueAt(body, ["items"]);
      const event = (Array.isArray(items) ? (items as unknown[]) : []).find(
        (item) => valueAt(item, ["reason"]) === "ChildRestored" && valueAt(item, ["regarding", "name"]) === "alpha",
      );
      return event === undefined ? 0 : Number(valueAt(event, ["series", "count"]) ?? 1);
    };
    for (const times of [1, 2]) {
      await eventually(async () => expect((await api.expect({ path: service }, [404])).status).toBe(200), PATIENCE);
      await remove(service);
      await eventually(async () => expect(await toldTimes()).toBeGreaterThanOrEqual(times), PATIENCE);
    }
  };

  return {
    async create() {
      await post("fireboltengineclasses", engineClass({ name: "std", namespace }));
      await provideVolume(api, namespace);
      const storage = { storageClassName: EXPANDABLE, size: "1Gi" };
      await post(
        "fireboltinstances",
        instance({ name: "main", namespace, metadata: { builtInPostgres: { storage } } }),
      );
      const shared = { namespace, instanceRef: "main", replicas: 1 };
      await post(
        "fireboltengines",
        engine({ ...shared, name: "alpha", engineClassRef: "std", rollout: "graceful", drainCheckInterval: "1s" }),
      );
      const template = { spec: { serviceAccountName: "nobody" } };
      await post("fireboltengines", engine({ ...shared, name: "stuck", template }));
      await engineIs({ phase: "stable", activeGeneration: 0 });
      await eventually(async () => {
        expect(readyOf(await read("fireboltengines", "stuck"))).toMatchObject({ reason: "FailedCreate" });
        expect(readyOf(await read("fireboltengineclasses", "std"))).toMatchObject({ status: "True" });
      }, PATIENCE);
      await repairTwice();
    },
    async roll() {
      await edit("alpha", {
        template: { spec: { containers: [{ name: "engine", image: "example.com/engine:next" }] } },
      });
      await engineIs({ phase: "stable", activeGeneration: 1 });
    },
    async giveUp() {
      const containers = [{ name: "engine", image: "example.com/engine:next" }];
      await edit("stuck", { template: { spec: { serviceAccountName: "nobody", containers } } });
      const next = { status: { phase: "creating", currentGeneration: 1 } };
      await eventually(async () => expect(await read("fireboltengines", "stuck")).toMatchObject(next), PATIENCE);
    },
    async stopAndStart() {
      await edit("alpha", { replicas: 0 });
      await engineIs({ phase: "stopped" });
      await edit("alpha", { replicas: 1 });
      await engineIs({ phase: "stable" });
    },
    async wake() {
      const autoStop = { enabled: true, activeReplicas: 1 };
      await post("fireboltengines", engine({ namespace, name: SLEEPER, instanceRef: "main", replicas: 0, autoStop }));
      const running = { spec: { replicas: 1 }, status: { phase: "stable" } };
      await eventually(async () => expect(await read("fireboltengines", SLEEPER)).toMatchObject(running), PATIENCE);
    },
    async orphan() {
      const active = valueAt(await read("fireboltengines", "alpha"), ["status", "activeGeneration"]);
      const path = `${listPath("apis/apps/v1/statefulsets")}/alpha-g${active}?propagationPolicy=Orphan`;
      await api.expect({ method: "DELETE", path });
      await engineIs({ phase: "stable", activeGeneration: Number(active) + 1 });
      const selector = encodeURIComponent(`firebolt.io/engine=alpha,firebolt.io/generation=${active}`);
      const orphans = { path: `${listPath("api/v1/pods")}?labelSelector=${selector}` };
      await eventually(async () => expect((await api.expect(orphans)).body).toMatchObject({ items: [] }), PATIENCE);
    },
    async damage() {
      const own = RENDERED.filter(({ kind }) => roles || !CHILDREN[kind].needsRoles).map(({ kind, name }) => ({
        kind,
        path: `${collectionPath(KINDS[kind], namespace)}/${name}`,
      }));
      // Without the StatefulSet the database would stop: it is only edited.
      const gone = [
        ...own.filter(({ kind }) => kind !== "StatefulSet").map(({ path }) => path),
        `${listPath("api/v1/services")}/alpha-service`,
      ];
      const uids = await Promise.all(gone.map(async (path) => uidOf((await api.expect({ path })).body)));
      for (const path of gone) await remove(path);
      await eventually(async () => {
        for (const [index, path] of gone.entries()) {
          const uid = uidOf((await api.expect({ path }, [404])).body);
          expect([undefined, uids[index]], path).not.toContain(uid);
        }
        expect(readyOf(await read("fireboltinstances", "main"))).toMatchObject({ status: "True" });
      }, PATIENCE);
      // What is missing is created; only what is there and was edited is updated.
      const edited = own.map(({ path }) => path);
      const body = { metadata: { labels: { [LABEL.component]: null } } };
      for (const path of edited) await api.expect({ method: "PATCH", path, body, contentType: MERGE });
      await eventually(async () => {
        for (const path of edited)
          expect(valueAt((await api.expect({ path })).body, ["metadata", "labels"]), path).toHaveProperty([
            LABEL.component,
          ]);
      }, PATIENCE);
    },
    async reshape(hasLooked) {
      const at = `${ours}/fireboltinstances/main`;
      const set = (builtInPostgres: object) =>
        api.expect({
          method: "PATCH",
          path: at,
          body: { spec: { metadata: { builtInPostgres } } },
          contentType: MERGE,
        });
      const claim = `${listPath("api/v1/persistentvolumeclaims")}/data-main-metadata-pg-0`;
      const secret = `${listPath("api/v1/secrets")}/main-metadata-postgres-creds`;
      const known = async () => valueAt(await read("fireboltinstances", "main"), ["status", "builtInPostgres"]);
      await eventually(async () => expect(await known()).toBeDefined(), PATIENCE);
      await set({ storage: { size: "2Gi" }, volumeRetention: "Retain" });
      await eventually(async () => {
        const { body } = await api.expect({ path: claim });
        expect(valueAt(body, ["spec", "resources", "requests", "storage"])).toBe("2Gi");
        const { body: kept } = await api.expect({ path: secret });
        expect(valueAt(kept, ["metadata", "ownerReferences"])).toBeUndefined();
      }, PATIENCE);
      await set({ volumeRetention: "Delete" });
      // A claim without its label is looked for, and is still the catalogue.
      const body = { metadata: { labels: { [LABEL.instance]: null } } };
      await api.expect({ method: "PATCH", path: claim, body, contentType: MERGE });
      await eventually(() => hasLooked(), { ...PATIENCE, describe: "a direct read of the claim" });
      await eventually(async () => {
        expect(readyOf(await read("fireboltinstances", "main"))).toMatchObject({ status: "True" });
      }, PATIENCE);
      const labels = { [LABEL.instance]: "main" };
      await api.expect({ method: "PATCH", path: claim, body: { metadata: { labels } }, contentType: MERGE });
    },
    async contend(hasLooked) {
      const path = `${ours}/fireboltinstances/main`;
      let edits = 0;
      await eventually(
        async () => {
          await remove(`${listPath("apis/apps/v1/deployments")}/main-gateway`);
          for (let more = 0; more < 40; more += 1) {
            edits += 1;
            const body = { metadata: { annotations: { "example.com/edits": String(edits) } } };
            await api.expect({ method: "PATCH", path, body, contentType: MERGE });
          }
          return hasLooked();
        },
        { ...PATIENCE, describe: "a conflict of a status write" },
      );
    },
    async needsOfChildren() {
      const lists = await Promise.all(
        CHILD_LISTS.map(async (kind) => (await api.expect({ path: listPath(kind) })).body),
      );
      const children = lists.flatMap((list) => {
        const items = valueAt(list, ["items"]);
        return Array.isArray(items) ? (items as unknown[]) : [];
      });
      const owned = children.filter((child) => ownerNeeds(child, (kind) => PLURALS.get(kind)).length > 0);
      return [
        ...owned.flatMap((child) => ownerNeeds(child, (kind) => PLURALS.get(kind))),
        // Only roles have rules.
        ...owned.flatMap(passedOn),
        ...(await Promise.all(owned.map(sharedRole))).flatMap(passedOn),
      ];
    },
    async remove() {
      for (const name of ["alpha", "stuck", SLEEPER]) await remove(`${ours}/fireboltengines/${name}`);
      // Admission denies the deletion of a class that an engine refers to, even if the engine is being deleted.
      const engines = { path: `${ours}/fireboltengines` };
      await eventually(async () => expect((await api.expect(engines)).body).toMatchObject({ items: [] }), PATIENCE);
      await remove(`${ours}/fireboltengineclasses/std`);
      await remove(`${ours}/fireboltinstances/main`);
      const paths = [...PLURALS.values()].map((plural) => `${ours}/${plural}`);
      paths.push(
        ...["apis/apps/v1/statefulsets", "apis/apps/v1/deployments", "api/v1/persistentvolumeclaims"].map(listPath),
      );
      await eventually(async () => {
        for (const path of paths) expect((await api.expect({ path })).body, path).toMatchObject({ items: [] });
      }, PATIENCE);
    },
  };
}

const EXPANDABLE = "expandable";

/** What a provisioner would make: a volume for the one claim, of a class that lets it grow. */
async function provideVolume(api: Api, namespace: string): Promise<void> {
  const storageClass = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: EXPANDABLE },
    provisioner: "example.com/none",
    allowVolumeExpansion: true,
  };
  await api.expect({ method: "POST", path: "/apis/storage.k8s.io/v1/storageclasses", body: storageClass }, [409]);
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `pg-${namespace}` },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: EXPANDABLE,
      claimRef: { namespace, name: "data-main-metadata-pg-0" },
      hostPath: { path: "/tmp/none" },
    },
  };
  await api.expect({ method: "POST", path: "/api/v1/persistentvolumes", body: volume });
}

function readyOf(object: unknown): unknown {
  const conditions = valueAt(object, ["status", "conditions"]);
  return Array.isArray(conditions) ? conditions.find((one: unknown) => valueAt(one, ["type"]) === "Ready") : undefined;
}

const uidOf = (object: unknown): unknown => valueAt(object, ["metadata", "uid"]);
