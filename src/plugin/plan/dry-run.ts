// A dry run of `kubectl apply` by the API server.
import { KubeApiError, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { CommandError } from "../command-line/exit-codes.ts";
import type { Manifest } from "./manifest-file.ts";
import { threeWayPatch } from "./three-way.ts";
import { isSchemaMismatch, rejectionLines } from "./without-values.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const MANAGER = "kubectl";

export type DryRun<T> =
  | { readonly type: "accepted"; readonly object: T; readonly live: T | undefined }
  | {
      readonly type: "refused";
      readonly problems: readonly string[];
      readonly live: T | undefined;
    };

export interface DryRunOptions {
  readonly manifest: Manifest;
  readonly namespace: string;
  /** As `kubectl apply --server-side` writes. */
  readonly serverSide: boolean;
}

export async function dryRun<T extends KubeObject>(
  cluster: Cluster,
  type: ResourceType<T>,
  { manifest, namespace, serverSide }: DryRunOptions,
): Promise<DryRun<T>> {
  const { client, call } = cluster;
  const { status: _, ...written } = manifest;
  const metadata = { ...manifest.metadata, namespace };
  const key = { namespace, name: manifest.metadata.name };
  const live = await client.find(type, key, call);
  const options = { ...call, dryRun: true, fieldManager: MANAGER, fieldValidation: "Strict" } as const;
  // The API server decides whether the manifest is a valid object of this type.
  const object = asWritten<T>({ ...written, metadata });
  try {
    if (serverSide) return { type: "accepted", live, object: await client.apply(type, object, options) };
    if (live === undefined) return { type: "accepted", live, object: await client.create(type, object, options) };
    const body = threeWayPatch({
      before: lastApplied(live),
      wanted: { ...written, metadata },
      live: Object.fromEntries(Object.entries(live)),
    });
    const result =
      Object.keys(body).length === 0 ? live : await client.patch(type, key, { type: "merge", body }, options);
    return { type: "accepted", live, object: result };
  } catch (error) {
    if (!(error instanceof KubeApiError)) throw error;
    const problems = rejectionLines(error, [live, manifest]);
    if (isRefusal(error)) return { type: "refused", live, problems };
    // A missing permission is reported before the object is read, so nothing is quoted; an internal error may quote
    // the object.
    throw error.status < 500 ? error : new CommandError(`the API server failed: ${problems.join("; ")}`);
  }
}

/** The object is rejected, not the user: a webhook rejects with 403, the code for missing permissions. */
function isRefusal({ status, message }: KubeApiError): boolean {
  if (status === 403) return message.includes("denied the request");
  if (status === 500) return isSchemaMismatch(message);
  return status >= 400 && status < 500 && status !== 401 && status !== 429;
}

function asWritten<T extends KubeObject>(manifest: object): T {
  return manifest as T;
}

function lastApplied(live: KubeObject): unknown {
  const text = live.metadata?.annotations?.[LAST_APPLIED];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    // kubectl treats an unreadable last-applied annotation as absent.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
