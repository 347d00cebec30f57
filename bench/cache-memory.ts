// How much memory a watch cache uses for its content: N ConfigMaps on a real API server, cached by a separate process.
// Options: --objects N (5000), --bytes N of data per object (2000). The target is 1.3 bytes of heap per byte of JSON.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { defineResource, type KubeObject } from "@firebolt-operator/kube";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import { startControlPlane } from "../dev/control-plane/control-plane.ts";

const TARGET_RATIO = 1.3;
const WRITERS = 32;
const NAMESPACE = "default";
const CHILD_TIMEOUT_MS = 180_000;
const CONFIG_MAPS = defineResource<KubeObject & { data?: Record<string, string> }>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

interface Measured {
  readonly objects: number;
  readonly syncMs: number;
  readonly jsonBytes: number;
  readonly before: { readonly heapBytes: number; readonly rssBytes: number };
  readonly after: { readonly heapBytes: number; readonly rssBytes: number };
}

export async function run(args: readonly string[]): Promise<object> {
  const { values } = parseArgs({
    args: [...args],
    options: { objects: { type: "string", default: "5000" }, bytes: { type: "string", default: "2000" } },
  });
  const objects = positive("--objects", values.objects);
  const bytes = positive("--bytes", values.bytes);
  await using plane = await startControlPlane({ progress });
  await createObjects(plane.adminKubeconfig, objects, bytes);
  progress("measuring in a separate process");
  const { before, after, ...measured } = await measureInChild(plane.adminKubeconfig, objects);
  const heapBytes = after.heapBytes - before.heapBytes;
  const ratio = heapBytes / measured.jsonBytes;
  return {
    ...measured,
    heapBytes,
    ratio: Number(ratio.toFixed(3)),
    target: TARGET_RATIO,
    withinTarget: ratio <= TARGET_RATIO,
    rssDeltaBytes: after.rssBytes - before.rssBytes,
    baselineHeapBytes: before.heapBytes,
    baselineRssBytes: before.rssBytes,
  };
}

async function createObjects(kubeconfig: string, objects: number, bytes: number): Promise<void> {
  const client = createKubeClient({
    config: await loadKubeconfig({ path: kubeconfig, env: {}, homeDir: "/nonexistent" }),
  });
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let index = next++; index < objects; index = next++) {
      await client.create(CONFIG_MAPS, {
        metadata: {
          namespace: NAMESPACE,
          name: `bench-${index}`,
          labels: { app: "bench", group: `group-${index % 50}` },
        },
        data: { "config.yaml": textOf(index, bytes) },
      });
      if (index % 1_000 === 999) progress(`created ${index + 1} of ${objects} ConfigMaps`);
    }
  };
  try {
    await Promise.all(Array.from({ length: WRITERS }, writer));
  } finally {
    client.close();
  }
}

/** Different for every object, so that no two share a string. */
function textOf(index: number, bytes: number): string {
  const line = `setting-${index}: value of object ${index}\n`;
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

async function measureInChild(kubeconfig: string, objects: number): Promise<Measured> {
  const child = join(import.meta.dirname, "processes/cache-memory.ts");
  const args = ["--expose-gc", child, kubeconfig, NAMESPACE, String(objects)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: CHILD_TIMEOUT_MS });
  const measured: unknown = JSON.parse(stdout);
  if (!isMeasured(measured)) throw new Error(`the measured process printed ${stdout.slice(0, 200)}`);
  return measured;
}

function isMeasured(value: unknown): value is Measured {
  return typeof value === "object" && value !== null && "jsonBytes" in value && "before" in value && "after" in value;
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new RangeError(`${option} must be a whole number above 0, not ${text}`);
  return value;
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
