// YAML manifests, read from files and applied in order as `kubectl apply --server-side` would. Waits for a webhook that
// does not respond yet; any other rejection is an error.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineResource, KubeApiError, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import { parseAllDocuments } from "yaml";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import type { Connection } from "./connection.ts";
import { FIELD_MANAGER, namespaces } from "./namespace.ts";

const WEBHOOK_PATIENCE_MS = 30_000;
const RETRY_MS = 100;

const clusterWide = (group: string, kind: string, plural: string): ResourceType =>
  defineResource({ group, version: "v1", kind, plural, namespaced: false });

const KNOWN: readonly ResourceType[] = [
  namespaces,
  clusterWide("", "PersistentVolume", "persistentvolumes"),
  clusterWide("storage.k8s.io", "StorageClass", "storageclasses"),
  ...Object.values(KINDS),
  FireboltInstance,
  FireboltEngineClass,
  FireboltEngine,
];

export function readManifests(file: string): readonly KubeObject[] {
  return parseManifests(readFileSync(file, "utf8"), file);
}

export function parseManifests(text: string, source: string): readonly KubeObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${source} is not YAML: ${error.message}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) return [];
    if (!isManifest(value)) throw new Error(`${source} holds something without apiVersion, kind and metadata.name`);
    return [value];
  });
}

function isManifest(value: unknown): value is KubeObject {
  if (typeof value !== "object" || value === null || !("kind" in value && "apiVersion" in value && "metadata" in value))
    return false;
  const { metadata } = value;
  return typeof metadata === "object" && metadata !== null && "name" in metadata;
}

/** Sequentially, in the given order. */
export async function applyManifests(cluster: Connection, manifests: readonly KubeObject[]): Promise<void> {
  for (const manifest of manifests) {
    const type = KNOWN.find(({ kind }) => kind === manifest.kind);
    if (type === undefined) throw new Error(`no way to apply a ${manifest.kind}: add it to dev/deploy/manifests.ts`);
    await untilWebhookResponds(cluster.call.signal, () =>
      cluster.client.apply(type, manifest, { ...cluster.call, fieldManager: FIELD_MANAGER, force: true }),
    );
  }
}

/** The API server reaches a webhook a moment after its pod is ready: until then it returns 500. */
async function untilWebhookResponds(signal: AbortSignal, write: () => Promise<unknown>): Promise<void> {
  const deadlineMs = performance.now() + WEBHOOK_PATIENCE_MS;
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      const isWebhook =
        error instanceof KubeApiError && error.status === 500 && /failed calling webhook/.test(error.message);
      if (!isWebhook || performance.now() > deadlineMs) throw error;
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
}
