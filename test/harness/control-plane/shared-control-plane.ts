// One control plane (etcd and kube-apiserver) for all integration test files, and beside it, for files that open it, a simulated cluster with
// controllers and nodes (simulated-cluster.ts); each test keeps to a namespace of its own. A test that stops servers or compacts etcd starts its
// own control plane instead.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { manifestFiles } from "@firebolt-operator/kube/testing";
import type { TestProject } from "vitest/node";
import { resolveAssets } from "../../../dev/assets/resolver.ts";
import { type ControlPlane, startControlPlane } from "../../../dev/control-plane/control-plane.ts";
import { serveSimulatedCluster } from "./simulated-cluster-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Path of the cluster administrator's kubeconfig. */
    adminKubeconfig: string;
    /** Paths of programs by their names, for tests that start a control plane of their own. */
    binaries: Readonly<Record<string, string>>;
  }
}

const CRDS = join(import.meta.dirname, "../../../config/crd");

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Binaries that are neither there nor can be made fail the run: integration tests are never skipped.
  const controlPlane: ControlPlane = await startControlPlane({
    progress: (line) => process.stderr.write(`${line}\n`),
    ...(existsSync(CRDS) && manifestFiles(CRDS).length > 0 ? { crds: CRDS } : {}),
  });
  project.provide("adminKubeconfig", controlPlane.adminKubeconfig);
  project.provide("binaries", Object.fromEntries(await resolveAssets(["etcd", "kube-apiserver", "kubectl"])));
  const simulated = await serveSimulatedCluster();
  project.provide("simulatedCluster", simulated.socket);
  return async () => {
    await simulated[Symbol.asyncDispose]();
    await controlPlane.stop();
  };
}
