// The parent control group of all containers of a cluster, so that they can be found and removed together. dismantle.sh
// removes it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Controllers that the kubelet requires with cgroup v2. */
const NEEDED = ["cpu", "cpuset", "memory", "pids"];

/** Creates the group in every hierarchy of the machine. */
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
  if (trees.length === 0) throw new Error("no cgroups are mounted here: the kubelet requires them");
  return trees;
}

/** Enables the root's controllers for its child groups; most systems do so at boot. */
function enableControllers(root: string): void {
  const wordsOf = (file: string): readonly string[] => readFileSync(join(root, file), "utf8").trim().split(/\s+/);
  const enabled = wordsOf("cgroup.subtree_control");
  const missing = wordsOf("cgroup.controllers").filter((one) => NEEDED.includes(one) && !enabled.includes(one));
  if (missing.length > 0)
    writeFileSync(join(root, "cgroup.subtree_control"), missing.map((one) => `+${one}`).join(" "));
}
