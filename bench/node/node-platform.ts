// A platform on a real node for measurements: a local cluster, the operator from its chart and image, and an instance
// with its gateway. Generations are removed as soon as no query runs (`drainSettle: 0s`).
import { type Api, openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { startLocalCluster } from "../../dev/cluster/local-cluster.ts";
import { installCharts } from "../../dev/deploy/charts.ts";
import { type Connection, connect } from "../../dev/deploy/connection.ts";
import { applyManifests } from "../../dev/deploy/manifests.ts";
import { applyNamespace } from "../../dev/deploy/namespace.ts";
import { waitUntilReady } from "../../dev/deploy/ready.ts";
import { buildImages, IMAGE_NAMES } from "../../dev/images/catalog.ts";
import { services } from "../../src/engine/cluster/kinds.ts";
import { gatewayName } from "../../src/instance/model/names.ts";

export const NAMESPACE = "bench";
const INSTANCE = "main";
const CLASS = "small";
const API_VERSION = "compute.firebolt.io/v1alpha1";

export interface NodePlatform extends AsyncDisposable {
  readonly cluster: Connection;
  /** Plain requests with the administrator's certificate. */
  readonly api: Api;
  /** `http://host:port` of the gateway. */
  readonly gateway: string;
  /** Another name of the engine's image. */
  readonly nextImage: string;
}

export async function openNodePlatform(progress: (line: string) => void): Promise<NodePlatform> {
  await using stack = new AsyncDisposableStack();
  const images = await buildImages(IMAGE_NAMES, { progress });
  const node = stack.use(await startLocalCluster({ images, progress }));
  // The API server would wait for the watches of operator and gateways. It is killed instead: none of its data is kept.
  stack.defer(() => node.stopApiServer("SIGKILL"));
  const kubeconfig = node.adminKubeconfig;
  await installCharts({ kubeconfig, images, values: { controllers: { drainSettle: "0s" } }, progress });
  const cluster = stack.use(await connect({ kubeconfig, namespace: NAMESPACE }));
  const api = openApiFromKubeconfig(kubeconfig);
  stack.defer(() => api.close());
  await applyNamespace(cluster, NAMESPACE);
  await applyManifests(cluster, [
    manifest("FireboltInstance", INSTANCE, { metadata: {}, gateway: {} }),
    manifest("FireboltEngineClass", CLASS, CLASS_SPEC),
  ]);
  await waitUntilReady(cluster, { instances: [INSTANCE], progress });
  const { spec } = await cluster.client.get(
    services,
    { namespace: NAMESPACE, name: gatewayName(INSTANCE) },
    cluster.call,
  );
  const kept = stack.move();
  return {
    cluster,
    api,
    gateway: `http://${spec?.clusterIP}:${spec?.ports?.[0]?.port}`,
    nextImage: images.find(({ name }) => name === "engine")?.alternative ?? "",
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const CLASS_SPEC = {
  template: {
    spec: { containers: [{ name: "engine", resources: { requests: { cpu: "20m", memory: "64Mi" } } }] },
  },
  drainCheckInterval: "1s",
  customEngineConfig: { storage: { managed_table_storage: "s3", managed_table_bucket_name: "bench-tables" } },
};

/** An engine that stops by itself only after hours; `replicas: 0` is one that a query wakes. */
export const engineManifest = (name: string, replicas: number) =>
  manifest("FireboltEngine", name, {
    instanceRef: INSTANCE,
    engineClassRef: CLASS,
    replicas,
    autoStop: { enabled: true, activeReplicas: 1, idleTimeout: "10h" },
  });

const manifest = (kind: string, name: string, spec: object) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, namespace: NAMESPACE },
  spec,
});
