// The set-up of an end-to-end run, once for all test files: images, a whole local cluster, the operator from its chart, and an instance
// with an engine. At the end it shows the figures that the scenarios left.
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type LocalCluster, startLocalCluster } from "../../../dev/cluster/local-cluster.ts";
import { installCharts } from "../../../dev/deploy/charts.ts";
import { connect } from "../../../dev/deploy/connection.ts";
import { applyManifests } from "../../../dev/deploy/manifests.ts";
import { applyNamespace } from "../../../dev/deploy/namespace.ts";
import { waitUntilReady } from "../../../dev/deploy/ready.ts";
import { buildImages, IMAGE_NAMES } from "../../../dev/images/catalog.ts";
import { openFigures, recordFigures, summariseFigures } from "./figures.ts";
import { serveNodeControl } from "./node-control.ts";
import { ENGINE, FAULTS_OPERATOR_VALUES, INSTANCE, NAMESPACE, OPERATOR_VALUES, platformManifests } from "./platform.ts";

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const figures = openFigures();
  const startedMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startedMs) / 100) / 10;
  const images = await buildImages(IMAGE_NAMES, { progress: say });
  const imagesSeconds = seconds();
  await using started = new AsyncDisposableStack();
  const cluster = started.use(await startLocalCluster({ images, progress: say }));
  const clusterSeconds = seconds();
  const controlSocket = join(cluster.folder, "e2e-control.sock");
  const control = await serveNodeControl(cluster, controlSocket);
  started.defer(() => {
    control.close();
  });
  const { adminKubeconfig: kubeconfig } = cluster;
  // Faults have their own instances, and no test kills leaders there.
  const isForFaults = project.name === "faults";
  const values = isForFaults ? FAULTS_OPERATOR_VALUES : OPERATOR_VALUES;
  await installCharts({ kubeconfig, images, values, progress: say });
  const operatorSeconds = seconds();
  if (!isForFaults) await createPlatform(cluster);
  const readySeconds = seconds();
  recordFigures(figures, "platform", { imagesSeconds, clusterSeconds, operatorSeconds, readySeconds });
  project.provide("e2e", {
    kubeconfig,
    nodeName: cluster.nodeName,
    folder: cluster.folder,
    controlSocket,
    figures,
    images: images.map(({ name, reference }) => ({ name, reference })),
    nextEngineImage: images.find(({ name }) => name === "engine")?.alternative ?? "",
  });
  const parts = started.move();
  return async () => {
    recordFigures(figures, "run", { seconds: seconds() });
    const { json, table, file } = summariseFigures(figures);
    say(`\n${table}\n\n${json}\n(kept in ${file})`);
    await parts.disposeAsync();
  };
}

async function createPlatform({ adminKubeconfig }: LocalCluster): Promise<void> {
  using connection = await connect({ kubeconfig: adminKubeconfig, namespace: NAMESPACE });
  await applyNamespace(connection, NAMESPACE);
  await applyManifests(connection, platformManifests());
  await waitUntilReady(connection, { instances: [INSTANCE], engines: [ENGINE], progress: say });
}
