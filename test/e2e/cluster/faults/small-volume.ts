// A volume that can be full: local ones promise a size and enforce none. A file system in memory, mounted on the node, with a claim under
// the name that the StatefulSet of the instance "full" looks for.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../../../dev/assets/run-program.ts";
import type { Connection } from "../../../../dev/platform/connection.ts";
import { applyManifests } from "../../../../dev/platform/manifests.ts";
import { componentLabels, postgresName } from "../../../../src/instance/names.ts";
import type { E2eContext } from "../../../support/e2e-platform.ts";

const NAME = "faults-small-volume";
/** Enough for a new database, whose pages count as memory of its pod. */
const MEBIBYTES = 112;
const MOUNT_MS = 10_000;
const INSTANCE = "full";
const NAMESPACE = "faults";

const folderOf = ({ folder }: E2eContext): string => join(folder, NAME);
const fillerOf = (context: E2eContext): string => join(folderOf(context), "filler");

interface Where {
  readonly cluster: Connection;
  readonly context: E2eContext;
}

export async function prepareSmallVolume({ cluster, context }: Where): Promise<void> {
  const path = folderOf(context);
  mkdirSync(path, { recursive: true });
  const args = ["-t", "tmpfs", "-o", `size=${MEBIBYTES}m,mode=777`, NAME, path];
  await runProgram({ program: "mount", args, timeoutMs: MOUNT_MS });
  chmodSync(path, 0o777);
  const claim = `data-${postgresName(INSTANCE)}-0`;
  const storage = `${MEBIBYTES}Mi`;
  const spec = { storageClassName: "", accessModes: ["ReadWriteOnce"] };
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: NAME },
    spec: {
      ...spec,
      capacity: { storage },
      persistentVolumeReclaimPolicy: "Retain",
      claimRef: { namespace: NAMESPACE, name: claim },
      local: { path },
      nodeAffinity: onNode(context.nodeName),
    },
  };
  const claimed = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: claim, namespace: NAMESPACE, labels: componentLabels(INSTANCE, "postgres") },
    spec: { ...spec, volumeName: NAME, resources: { requests: { storage } } },
  };
  await applyManifests(cluster, [volume, claimed]);
}

const onNode = (name: string) => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [name] }] }],
  },
});

/** Leaves no room for anything. */
export function fill(context: E2eContext): void {
  const block = Buffer.alloc(1 << 16);
  for (;;) {
    try {
      writeFileSync(fillerOf(context), block, { flag: "a" });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOSPC") return;
      throw error;
    }
  }
}

export const makeRoom = (context: E2eContext): void => rmSync(fillerOf(context), { force: true });
