// The runtime's control plane with the programs of dev/assets, and with simulated nodes (kwok) on request: for tests and the playground.
import * as kube from "@firebolt-operator/kube/testing";
import { resolveAssets } from "../assets/resolver.ts";
import { KWOK } from "./kwok.ts";

export type { ControlPlane } from "@firebolt-operator/kube/testing";

/** What runs beside etcd and kube-apiserver. */
export type Component = "kube-controller-manager" | "kube-scheduler" | "kwok";

export interface ControlPlaneOptions
  extends Omit<kube.ControlPlaneOptions, "binaries" | "components" | "folderPrefix"> {
  readonly components?: readonly Component[];
}

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<kube.ControlPlane> {
  const { components = [], progress = () => undefined } = options;
  return kube.startControlPlane({
    ...options,
    binaries: Object.fromEntries(await resolveAssets(["etcd", "kube-apiserver", ...components], { progress })),
    components: components.map((name) => (name === "kwok" ? KWOK : name)),
    folderPrefix: "firebolt-control-plane-",
  });
}
