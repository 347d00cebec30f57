// The control group that all of a cluster's containers are below, so that they can be found and removed together. dismantle.sh removes it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Controllers that the kubelet insists on where there is one tree for all of them. */
const NEEDED = ["cpu", "cpuset", "memory", "pids"];

/** Makes the group in every tree of the machine. */
export function makeCgroup(name: string): void {
  for (const { mountPoint, version } of cgroupTrees(readFileSync("/proc/self/mountinfo", "utf8"))) {
    if (version === 2) enableControllers(mountPoint);
    mkdirSync(join(mountPoint, name), { recursive: true });
  }
}

export interface CgroupTree {
  readonly mountPoint: string;
  readonly version: 1 | 2;
}

/** Version 1 has a tree for each controller, version 2 one for all; some systems have both. */
export function cgroupTrees(mountinfo: string): readonly CgroupTree[] {
  const trees = mountinfo.split("\n").flatMap((line): CgroupTree[] => {
    const [before = "", after = ""] = line.split(" - ");
    const mountPoint = before.split(" ")[4];
    const type = after.split(" ")[0];
    if (mountPoint === undefined || (type !== "cgroup" && type !== "cgroup2")) return [];
    return [{ mountPoint, version: type === "cgroup" ? 1 : 2 }];
  });
  if (trees.length === 0) throw new Error("no control groups are mounted here: a kubelet cannot run without");
  return trees;
}

/** Hands on to groups below the root what the root has; most systems did so at boot. */
function enableControllers(root: string): void {
  const wordsOf = (file: string): readonly string[] => readFileSync(join(root, file), "utf8").trim().split(/\s+/);
  const enabled = wordsOf("cgroup.subtree_control");
  const missing = wordsOf("cgroup.controllers").filter((one) => NEEDED.includes(one) && !enabled.includes(one));
  if (missing.length > 0)
    writeFileSync(join(root, "cgroup.subtree_control"), missing.map((one) => `+${one}`).join(" "));
}
