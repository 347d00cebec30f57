// The programs that run beside etcd and kube-apiserver on request: their users, their flags and the order they need.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Component } from "./control-plane.ts";

/** Simulated pods get their addresses from here: local to the private network of scripts/private-network.sh. */
export const POD_RANGE = "10.64.0.0/16";

const STAGES = join(import.meta.dirname, "kwok");

/** Who a component is to the API server. */
export const COMPONENT_USERS: Readonly<
  Record<Component, { readonly user: string; readonly groups: readonly string[] }>
> = {
  // Its controllers write with its own identity instead of one service account each, which would take a token request per
  // controller at the start; so it needs the power of all of them.
  "kube-controller-manager": { user: "system:kube-controller-manager", groups: ["system:masters"] },
  "kube-scheduler": { user: "system:kube-scheduler", groups: [] },
  kwok: { user: "kwok", groups: ["system:masters"] },
};

export interface ComponentFiles {
  readonly kubeconfig: string;
  /** The cluster's root certificate. */
  readonly ca: string;
}

/** The flags of a component. */
export function renderComponentArgs(component: Component, files: ComponentFiles): readonly string[] {
  switch (component) {
    case "kube-controller-manager":
      return [
        `--kubeconfig=${files.kubeconfig}`,
        `--root-ca-file=${files.ca}`,
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        // Simulated nodes and busy machines are late with their heartbeats: that is no reason to evict pods.
        "--node-monitor-grace-period=1h",
      ];
    case "kube-scheduler":
      return [
        `--kubeconfig=${files.kubeconfig}`,
        `--authentication-kubeconfig=${files.kubeconfig}`,
        `--authorization-kubeconfig=${files.kubeconfig}`,
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
      ];
    case "kwok":
      return [
        `--kubeconfig=${files.kubeconfig}`,
        "--manage-all-nodes=true",
        "--node-lease-duration-seconds=40",
        "--node-ip=10.0.0.1",
        `--cidr=${POD_RANGE}`,
        ...readdirSync(STAGES).map((file) => `--config=${join(STAGES, file)}`),
      ];
    default:
      return assertNever(component);
  }
}

function assertNever(value: never): never {
  throw new Error(`unknown component ${String(value)}`);
}
