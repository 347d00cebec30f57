// A control plane with real Deployment and StatefulSet controllers and simulated pods, and the hands of a person at
// work on instances: create, edit, look, break things.
import { join } from "node:path";
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { startControlPlane } from "../../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../../dev/control-plane/nodes.ts";
import type { FireboltInstance, FireboltInstanceManifest } from "../../../src/api/firebolt-instance/instance.ts";
import { eventually, uniqueNamespace } from "../../harness/control-plane/requests.ts";
import { instance } from "../../harness/fixtures/manifests.ts";

const CRDS = join(import.meta.dirname, "../../../config/crd");

/** Where each kind lives, below `/namespaces/<ns>/`. */
export const COLLECTIONS = {
  FireboltInstance: ["/apis/compute.firebolt.io/v1alpha1", "fireboltinstances"],
  FireboltEngine: ["/apis/compute.firebolt.io/v1alpha1", "fireboltengines"],
  StatefulSet: ["/apis/apps/v1", "statefulsets"],
  Deployment: ["/apis/apps/v1", "deployments"],
  ReplicaSet: ["/apis/apps/v1", "replicasets"],
  Service: ["/api/v1", "services"],
  ConfigMap: ["/api/v1", "configmaps"],
  Secret: ["/api/v1", "secrets"],
  Pod: ["/api/v1", "pods"],
  PersistentVolumeClaim: ["/api/v1", "persistentvolumeclaims"],
  PodDisruptionBudget: ["/apis/policy/v1", "poddisruptionbudgets"],
  ServiceAccount: ["/api/v1", "serviceaccounts"],
  Role: ["/apis/rbac.authorization.k8s.io/v1", "roles"],
  RoleBinding: ["/apis/rbac.authorization.k8s.io/v1", "rolebindings"],
} as const;
export type Kind = keyof typeof COLLECTIONS;

export interface InstanceCluster extends AsyncDisposable {
  readonly api: Api;
  readonly adminKubeconfig: string;
  /** Path of a kubeconfig with a token of this service account, which is made if it does not exist. */
  serviceAccountKubeconfig(namespace: string, name: string): Promise<string>;
  /** A separate namespace; with `restricted`, Pod Security rejects every pod that is not hardened. */
  namespace(security?: "restricted"): Promise<TestNamespace>;
}

/** What a person does in one namespace. */
export interface TestNamespace {
  readonly name: string;
  get(kind: Kind, name: string): Promise<unknown>;
  find(kind: Kind, name: string): Promise<unknown>;
  names(kind: Kind): Promise<readonly string[]>;
  create(kind: Kind, body: object): Promise<unknown>;
  patch(kind: Kind, name: string, body: object, subresource?: string): Promise<unknown>;
  remove(kind: Kind, name: string): Promise<void>;
  createInstance(spec?: Partial<FireboltInstanceManifest["spec"]>): Promise<void>;
  instance(): Promise<FireboltInstance>;
  /**
   * Makes every pod of the component ready or not, for as long as these pods live. A component has to be up to be made
   * unready.
   */
  setReady(component: string, ready: boolean): Promise<void>;
}

export async function startInstanceCluster(): Promise<InstanceCluster> {
  const plane = await startControlPlane({
    components: ["kube-controller-manager", "kube-scheduler", "kwok"],
    crds: CRDS,
  });
  await addNodes(plane.adminKubeconfig, { count: 2 });
  const api = openApiFromKubeconfig(plane.adminKubeconfig);
  return {
    api,
    adminKubeconfig: plane.adminKubeconfig,
    serviceAccountKubeconfig: (namespace, name) => plane.serviceAccountKubeconfig(namespace, name),
    async namespace(security) {
      const name = uniqueNamespace("instance");
      const labels = security === undefined ? {} : { "pod-security.kubernetes.io/enforce": security };
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
      await api.expect({ method: "POST", path: "/api/v1/namespaces", body });
      return openNamespace(api, name);
    },
    async [Symbol.asyncDispose]() {
      api.close();
      await plane.stop();
    },
  };
}

function openNamespace(api: Api, namespace: string): TestNamespace {
  const path = (kind: Kind, name?: string) => {
    const [root, plural] = COLLECTIONS[kind];
    return `${root}/namespaces/${namespace}/${plural}${name === undefined ? "" : `/${name}`}`;
  };
  const ns: TestNamespace = {
    name: namespace,
    get: async (kind, name) => (await api.expect({ path: path(kind, name) })).body,
    async find(kind, name) {
      const { status, body } = await api.expect({ path: path(kind, name) }, [404]);
      return status === 404 ? undefined : body;
    },
    async names(kind) {
      const items = listAt((await api.expect({ path: path(kind) })).body, ["items"]);
      return items.map((item) => String(valueAt(item, ["metadata", "name"]))).sort();
    },
    create: async (kind, body) => (await api.expect({ method: "POST", path: path(kind), body })).body,
    async patch(kind, name, body, subresource) {
      const at = `${path(kind, name)}${subresource === undefined ? "" : `/${subresource}`}`;
      const contentType = "application/merge-patch+json";
      return (await api.expect({ method: "PATCH", path: at, body, contentType })).body;
    },
    async remove(kind, name) {
      await api.expect({ method: "DELETE", path: path(kind, name) }, [404]);
    },
    async createInstance(spec = {}) {
      await ns.create("FireboltInstance", instance({ name: "lakeside", namespace, ...spec }));
    },
    // The API server returns the requested kind, in the shape of the CRD.
    instance: async () => (await ns.get("FireboltInstance", "lakeside")) as FireboltInstance,
    async setReady(component, ready) {
      const selector = encodeURIComponent(`firebolt.io/component=${component}`);
      const deployment = `lakeside-${component}`;
      // A pod that starts later would become ready automatically.
      const pods = await eventually(
        async () => {
          const { body } = await api.expect({ path: `${path("Pod")}?labelSelector=${selector}` });
          const found = listAt(body, ["items"]);
          const wanted = valueAt(await ns.get("Deployment", deployment), ["spec", "replicas"]);
          const isUp = (pod: unknown): boolean =>
            valueAt(pod, ["status", "podIP"]) !== undefined && (ready || isReady(pod));
          return found.length === wanted && found.every(isUp) && found;
        },
        { describe: `all pods of ${deployment}` },
      );
      for (const pod of pods) {
        const conditions = [
          { type: "Ready", status: ready ? "True" : "False", lastTransitionTime: new Date().toISOString() },
        ];
        await ns.patch("Pod", String(valueAt(pod, ["metadata", "name"])), { status: { conditions } }, "status");
      }
    },
  };
  return ns;
}

function listAt(object: unknown, at: readonly string[]): readonly unknown[] {
  const list = valueAt(object, at);
  return Array.isArray(list) ? list : [];
}

function isReady(pod: unknown): boolean {
  return listAt(pod, ["status", "conditions"]).some(
    (condition) => valueAt(condition, ["type"]) === "Ready" && valueAt(condition, ["status"]) === "True",
  );
}
