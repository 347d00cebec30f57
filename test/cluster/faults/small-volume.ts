// A volume that can be full: local ones promise a size and enforce none. A file system in memory, mounted on the node, with a storage
// class of its own.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../../dev/assets/run-program.ts";
import type { Connection } from "../../../dev/deploy/connection.ts";
import { applyManifests } from "../../../dev/deploy/manifests.ts";
import type { E2eContext } from "../support/platform.ts";

const NAME = "faults-small-volume";
/** Enough for a new database, whose pages count as memory of its pod. */
const MEBIBYTES = 112;
const MOUNT_MS = 60_000;
const SIZE = `${MEBIBYTES}Mi`;

/** Of an instance whose built-in PostgreSQL uses the volume: no other has its class. */
export const SMALL_VOLUME_SPEC = { metadata: { builtInPostgres: { storage: { storageClassName: NAME, size: SIZE } } } };

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
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: NAME },
    spec: {
      storageClassName: NAME,
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: SIZE },
      persistentVolumeReclaimPolicy: "Retain",
      local: { path },
      nodeAffinity: onNode(context.nodeName),
    },
  };
  await applyManifests(cluster, [volume]);
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
