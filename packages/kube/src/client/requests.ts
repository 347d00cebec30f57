// Turns the client's verbs into calls: method, path, query and encoded body. Pure; sends nothing.
import { type KubeObject, keyOf, type ObjectKey } from "../core/object.ts";
import { apiVersionOf, collectionPath, groupResourceOf, objectPath, type ResourceType } from "../core/resource.ts";
import type { Call } from "./calls.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  LogRequest,
  Patch,
  ProxyRequest,
  RawRequest,
  WatchOptions,
  WriteOptions,
} from "./client.ts";

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const JSON_TYPE = "application/json";
const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const satisfies Record<Patch["type"], string>;
const WRITES = {
  create: { method: "POST", contentType: JSON_TYPE },
  update: { method: "PUT", contentType: JSON_TYPE },
  // JSON is valid YAML, so the apply type accepts it.
  apply: { method: "PATCH", contentType: "application/apply-patch+yaml" },
} as const;
/** Media types that reduce a list, and an event of a watch, to metadata. */
const METADATA_TYPES = {
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  watch: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
} as const;
const DEFAULT_PROXY_BYTES = 1024 * 1024;

/** The path with those query parameters that have a value. */
export function withQuery(path: string, query: Query): string {
  let text = path;
  let separator = path.includes("?") ? "&" : "?";
  for (const name in query) {
    const value = query[name];
    if (value === undefined || value === "" || value === false) continue;
    text += `${separator}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
    separator = "&";
  }
  return text;
}

export function getCall(type: ResourceType, key: ObjectKey): Call {
  return {
    method: "GET",
    path: objectPath(type, key),
    verb: "get",
    resource: groupResourceOf(type),
    ...(type.metadataOnly ? { accept: METADATA_TYPES.watch } : {}),
  };
}

export function listCall(type: ResourceType, options: ListOptions): Call {
  const { labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = options;
  const query = {
    labelSelector,
    fieldSelector,
    limit,
    continue: options.continue,
    resourceVersion,
    resourceVersionMatch,
  };
  return {
    method: "GET",
    path: withQuery(collectionPath(type, options.namespace), query),
    verb: "list",
    resource: groupResourceOf(type),
    ...(type.metadataOnly ? { accept: METADATA_TYPES.list } : {}),
  };
}

export function watchCall(type: ResourceType, options: WatchOptions): Call {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds, sendInitialEvents } = options;
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    // The API requires both or neither.
    sendInitialEvents,
    resourceVersionMatch: options.resourceVersionMatch ?? (sendInitialEvents ? "NotOlderThan" : undefined),
    timeoutSeconds,
  };
  return {
    method: "GET",
    path: withQuery(collectionPath(type, options.namespace), query),
    verb: "watch",
    resource: groupResourceOf(type),
    ...(type.metadataOnly ? { accept: METADATA_TYPES.watch } : {}),
  };
}

/** Create, update or apply: verbs that send a whole object. */
export function writeCall(
  verb: keyof typeof WRITES,
  type: ResourceType,
  write: { readonly object: KubeObject; readonly options: WriteOptions & Partial<ApplyOptions> },
): Call {
  const { object, options } = write;
  const path =
    verb === "create" && options.subresource === undefined
      ? collectionPath(type, namespaceOf(type, object))
      : objectPath(type, keyOf(object), options.subresource);
  return {
    ...WRITES[verb],
    path: withQuery(path, { ...writeQuery(options), force: verb === "apply" ? options.force : undefined }),
    body: JSON.stringify(
      object.apiVersion === undefined || object.kind === undefined
        ? { apiVersion: apiVersionOf(type), kind: type.kind, ...object }
        : object,
    ),
    verb,
    resource: groupResourceOf(type),
    write: true,
  };
}

export function patchCall(
  type: ResourceType,
  key: ObjectKey,
  { patch, options }: { readonly patch: Patch; readonly options: WriteOptions },
): Call {
  return {
    method: "PATCH",
    contentType: PATCH_TYPES[patch.type],
    path: withQuery(objectPath(type, key, options.subresource), writeQuery(options)),
    body: JSON.stringify(patch.body),
    verb: "patch",
    resource: groupResourceOf(type),
    write: true,
  };
}

export function deleteCall(type: ResourceType, key: ObjectKey, options: DeleteOptions): Call {
  const { uid, resourceVersion, propagation, gracePeriodSeconds, dryRun } = options;
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...((uid !== undefined || resourceVersion !== undefined) && { preconditions: { uid, resourceVersion } }),
    propagationPolicy: propagation,
    gracePeriodSeconds,
    ...(dryRun && { dryRun: ["All"] }),
  };
  return {
    method: "DELETE",
    contentType: JSON_TYPE,
    path: objectPath(type, key),
    body: JSON.stringify(body),
    verb: "delete",
    resource: groupResourceOf(type),
    write: true,
  };
}

export function proxyCall(request: ProxyRequest): Call {
  const { namespace, pod, port, path, maxBytes = DEFAULT_PROXY_BYTES, firstByteMs } = request;
  const target = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}:${port}/proxy`;
  return {
    method: "GET",
    path: path.startsWith("/") ? target + path : `${target}/${path}`,
    verb: "get",
    resource: "pods/proxy",
    proxied: true,
    maxBytes,
    ...(firstByteMs !== undefined && { firstByteMs }),
  };
}

export function logCall({ namespace, pod, ...request }: LogRequest): Call {
  const { container, timestamps, tailLines, sinceSeconds, limitBytes, follow, previous } = request;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
  return {
    method: "GET",
    path: withQuery(path, { container, timestamps, tailLines, sinceSeconds, limitBytes, follow, previous }),
    verb: "get",
    resource: "pods/log",
  };
}

export function rawCall(request: RawRequest): Call {
  const { method, path, query = {}, body, contentType = JSON_TYPE } = request;
  return {
    method,
    path: withQuery(path, query),
    ...(body !== undefined && { body: JSON.stringify(body), contentType }),
    verb: method.toLowerCase(),
    resource: path.split("?", 1)[0] ?? path,
    write: method !== "GET" && method !== "HEAD" && method !== "OPTIONS",
  };
}

function writeQuery(options: WriteOptions): Query {
  const { fieldManager, fieldValidation, dryRun } = options;
  return { fieldManager, fieldValidation, dryRun: dryRun ? "All" : undefined };
}

function namespaceOf(type: ResourceType, object: KubeObject): string | undefined {
  const namespace = object.metadata?.namespace;
  if (type.namespaced && !namespace)
    throw new TypeError(`${type.kind} ${object.metadata?.name ?? ""} needs a namespace to be created in`);
  return namespace;
}
