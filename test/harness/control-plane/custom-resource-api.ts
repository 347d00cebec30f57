// Writes manifests of our kinds to the shared API server and returns the stored object, or the rejected fields with the
// reasons. Checks nothing itself.
import { type Api, type ApiResponse, openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { inject } from "vitest";
import { type AnyManifest, KINDS } from "../fixtures/manifests.ts";

/** One rejected field. */
export interface Cause {
  readonly field: string;
  readonly message: string;
}

export type Verdict =
  | { readonly type: "accepted"; readonly object: StoredObject }
  | {
      readonly type: "refused";
      readonly status: number;
      readonly message: string;
      readonly causes: readonly Cause[];
    };

/** As the API server returns it, with nothing known of its content. */
export interface StoredObject {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface WriteSettings {
  readonly fieldValidation?: "Strict" | "Ignore";
  readonly dryRun?: boolean;
  /** Written to the status subresource. */
  readonly status?: true;
  /** The group that the kinds are served under; ours unless a test installs a copy. */
  readonly group?: string;
}

export interface CustomResourceApi extends Disposable {
  readonly api: Api;
  create(manifest: AnyManifest, settings?: WriteSettings): Promise<Verdict>;
  /** Replaces the object; the manifest carries the resourceVersion it was read at. */
  replace(manifest: AnyManifest, settings?: WriteSettings): Promise<Verdict>;
}

export function openCustomResourceApi(): CustomResourceApi {
  const api = openApiFromKubeconfig(inject("adminKubeconfig"));
  return {
    api,
    async create(manifest, settings = {}) {
      return verdictOf(await api.send({ method: "POST", path: pathOf(manifest, settings), body: manifest }));
    },
    async replace(manifest, settings = {}) {
      const name = `/${manifest.metadata.name}${settings.status === undefined ? "" : "/status"}`;
      return verdictOf(await api.send({ method: "PUT", path: pathOf(manifest, settings, name), body: manifest }));
    },
    [Symbol.dispose]: () => api.close(),
  };
}

function pathOf({ kind, metadata }: AnyManifest, settings: WriteSettings, name = ""): string {
  const { plural, version, group } = KINDS[kind];
  const query = new URLSearchParams({ fieldValidation: settings.fieldValidation ?? "Strict" });
  if (settings.dryRun === true) query.set("dryRun", "All");
  return `/apis/${settings.group ?? group}/${version}/namespaces/${metadata.namespace}/${plural}${name}?${query}`;
}

function verdictOf({ status, body }: ApiResponse): Verdict {
  if (status < 300 && isStored(body)) return { type: "accepted", object: body };
  const { message = "", details } = isStatus(body) ? body : {};
  const causes = (details?.causes ?? []).map((cause) => ({ field: cause.field ?? "", message: cause.message ?? "" }));
  return { type: "refused", status, message, causes };
}

interface Status {
  readonly message?: string;
  readonly details?: { readonly causes?: readonly Partial<Cause>[] };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
const isStored = (value: unknown): value is StoredObject => isRecord(value) && isRecord(value["metadata"]);
const isStatus = (value: unknown): value is Status => isRecord(value) && value["kind"] === "Status";
