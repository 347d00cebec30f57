// kwok as a component of the control plane: it simulates the nodes, and makes their pods ready.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ComponentProgram } from "@firebolt-operator/kube/testing";

/** Simulated pods get their addresses from here: local to the private network of dev/sandbox/network.sh. */
const POD_RANGE = "10.64.0.0/16";

const STAGES = join(import.meta.dirname, "kwok");

export const KWOK: ComponentProgram = {
  name: "kwok",
  user: "kwok",
  groups: ["system:masters"],
  args: ({ kubeconfig }) => [
    `--kubeconfig=${kubeconfig}`,
    "--manage-all-nodes=true",
    "--node-lease-duration-seconds=40",
    "--node-ip=10.0.0.1",
    `--cidr=${POD_RANGE}`,
    ...readdirSync(STAGES).map((file) => `--config=${join(STAGES, file)}`),
  ],
};
