// The sample platform: where its manifests are and what its objects are called. The playground shows it; end-to-end tests may use it.
import { join } from "node:path";
import type { KubeObject } from "@firebolt-operator/kube";
import type { FireboltInstanceManifest } from "../../src/api/firebolt-instance/instance.ts";
import { INSTANCE_NAMES } from "../../src/api/group.ts";
import type { Connection } from "./connection.ts";
import { applyManifests, readManifests } from "./manifests.ts";

export const SAMPLE_FILE = join(import.meta.dirname, "sample.yaml");

export const SAMPLE = {
  namespace: "analytics",
  instance: "lakeside",
  engineClass: "small",
  engines: ["adhoc", "reporting"],
} as const;

/** Its manifests, in the order in which they are applied; in another namespace if one is named. */
export function samplePlatform(namespace: string = SAMPLE.namespace): readonly KubeObject[] {
  return readManifests(SAMPLE_FILE).map((manifest) =>
    manifest.kind === "Namespace"
      ? { ...manifest, metadata: { ...manifest.metadata, name: namespace } }
      : { ...manifest, metadata: { ...manifest.metadata, namespace } },
  );
}

/** `spec.gateway` of its instance. */
export function sampleGateway(): FireboltInstanceManifest["spec"]["gateway"] {
  const instance = samplePlatform().find(({ kind }) => kind === INSTANCE_NAMES.kind) as
    | FireboltInstanceManifest
    | undefined;
  if (instance === undefined) throw new Error(`${SAMPLE_FILE} contains no ${INSTANCE_NAMES.kind}`);
  return instance.spec.gateway;
}

export async function applySample(cluster: Connection, namespace?: string): Promise<void> {
  await applyManifests(cluster, samplePlatform(namespace));
}
