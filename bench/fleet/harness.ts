// The cluster on which operators are measured: a real control plane with simulated nodes, drain checks that get a
// response, an audit log of the operator's user, and the chart installed by Helm. Starts no operator and measures
// nothing.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { defineResource, type KubeObject } from "@firebolt-operator/kube";
import { createKubeClient, type KubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../dev/control-plane/nodes.ts";
import { namespaces } from "../../dev/deploy/namespace.ts";
import { type Helm, openHelm, type RenderedObject, type Values } from "../../test/harness/helm/helm.ts";
import { startMetricsServer } from "../../test/harness/pods/engine-metrics-server.ts";
import { buildProgram, PROGRAM } from "../../test/harness/programs/operator-process.ts";
import { type AuditCounter, openAuditCounter } from "./audit-counter.ts";

const ROOT = join(import.meta.dirname, "../..");
export const RELEASE = "firebolt-operator";
export const SYSTEM_NAMESPACE = "firebolt-system";
export const FLEET_NAMESPACE = "fleet";
const USER = `system:serviceaccount:${SYSTEM_NAMESPACE}:${RELEASE}`;
/** Each simulated node takes 10,000 pods. */
const NODES = 4;
const CONNECTIONS = 64;

const ClusterRoleBinding = defineResource<KubeObject & { roleRef: object; subjects: readonly object[] }>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
});

export type Progress = (line: string) => void;

export interface Harness extends AsyncDisposable {
  readonly plane: ControlPlane;
  /** The administrator's. */
  readonly client: KubeClient;
  readonly audit: AuditCounter;
  /** With a token of the chart's service account, and so with exactly its permissions. */
  readonly operatorKubeconfig: string;
  /** The bundle as built for this harness: a later build does not change what is measured. */
  readonly program: string;
  /** The rendered chart, including its Deployment. */
  readonly objects: readonly RenderedObject[];
  /** For logs and certificates; deleted with the harness. */
  readonly folder: string;
  readonly progress: Progress;
  createNamespace(name: string): Promise<void>;
  /** Another program may need other permissions: grants all of them. */
  grantEverything(): Promise<void>;
}

export interface HarnessOptions {
  readonly progress: Progress;
  /** Values of the chart. */
  readonly values?: Values;
}

export async function openHarness({ progress, values = {} }: HarnessOptions): Promise<Harness> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "fleet-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const audit = openAuditCounter(folder, USER);
  const program = join(folder, basename(PROGRAM));
  await buildProgram();
  copyFileSync(PROGRAM, program);
  stack.use(await startMetricsServer());
  const plane = stack.use(
    await startControlPlane({
      components: ["kube-controller-manager", "kube-scheduler", "kwok"],
      crds: join(ROOT, "config/crd"),
      apiServerArgs: audit.apiServerArgs,
      progress,
    }),
  );
  await addNodes(plane.adminKubeconfig, { count: NODES });
  const config = await loadKubeconfig({ path: plane.adminKubeconfig, env: {}, homeDir: homedir() });
  const client = createKubeClient({ config, maxSockets: CONNECTIONS });
  stack.defer(() => client.close());
  const createNamespace = async (name: string): Promise<void> => {
    await client.create(namespaces, { metadata: { name } });
  };
  await createNamespace(SYSTEM_NAMESPACE);
  const helm: Helm = stack.use(await openHelm());
  progress("installing the chart");
  const release = { name: RELEASE, namespace: SYSTEM_NAMESPACE, values, args: ["--skip-crds"] };
  await helm.install(release, plane.adminKubeconfig);
  const objects = await helm.render(release);
  const operatorKubeconfig = await plane.serviceAccountKubeconfig(SYSTEM_NAMESPACE, RELEASE);
  await createNamespace(FLEET_NAMESPACE);
  const kept = stack.move();
  return {
    plane,
    client,
    audit,
    operatorKubeconfig,
    program,
    objects,
    folder,
    progress,
    createNamespace,
    async grantEverything() {
      await client.create(ClusterRoleBinding, {
        metadata: { name: "fleet-everything" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "ServiceAccount", namespace: SYSTEM_NAMESPACE, name: RELEASE }],
      });
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
