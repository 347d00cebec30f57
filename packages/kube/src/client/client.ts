// The interface of the client: one method per verb, every call with a deadline and an AbortSignal.
import type { KubeList, KubeObject, ObjectKey } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Deadline of the whole call, including retries of 429. Default 30 s. */
  readonly timeoutMs?: number;
}

/** Options of a list: scope, selectors, paging and version. */
export interface ListOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact";
}

/** Options of a watch: scope, selectors, start version and timeouts. */
export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  /** Request the current state as ADDED events, terminated by a bookmark (streaming list). */
  readonly sendInitialEvents?: boolean;
  /** The server closes the watch after this long. */
  readonly timeoutSeconds: number;
  /** The watch fails if no byte arrives for this long. */
  readonly idleTimeoutMs: number;
  /** The same while the initial state arrives. Default: `idleTimeoutMs`. */
  readonly initialIdleTimeoutMs?: number;
  /** The watch fails if its response headers do not arrive within this long, including the connection. Default 10 s. */
  readonly openTimeoutMs?: number;
  /**
   * Called for ADDED and MODIFIED events after the initial state, with their version and before they are decoded. A
   * known event is delivered as a bookmark of that version.
   */
  readonly isKnown?: (version: string) => boolean;
}

/** One event of a watch, as the server sent it. */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: T;
}

/** Options of a write. */
export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly subresource?: string;
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take over fields from other managers. */
  readonly force?: boolean;
}

/** A patch, in one of the three formats of the API server. */
export type Patch =
  | { readonly type: "merge"; readonly body: object }
  | { readonly type: "json"; readonly body: readonly object[] }
  | { readonly type: "strategic"; readonly body: object };

/** Options of a delete: preconditions, propagation and grace period. */
export interface DeleteOptions extends CallOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: "Foreground" | "Background" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** The result of a delete: the object is gone, or it is terminating until finalizers or dependents are done. */
export type DeleteResult<T> = { readonly type: "gone" } | { readonly type: "terminating"; readonly object: T };

/** A GET to a port of a pod, through the API server. */
export interface ProxyRequest extends CallOptions {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  readonly path: string;
  /** Fails if the response is larger. Default 1 MiB. */
  readonly maxBytes?: number;
  /**
   * Limit for obtaining a connection (a free socket, the tunnel, the handshake), and again from there to the response
   * headers. Default: only the deadline of the whole call.
   */
  readonly firstByteMs?: number;
}

/** Which container log to read, and how much of it. */
export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The number of lines from the end; undefined: all. */
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  /** Keep streaming as the log grows. */
  readonly follow?: boolean | undefined;
  /** Of the previous instance of the container. */
  readonly previous?: boolean | undefined;
  readonly limitBytes?: number | undefined;
  /** Each line begins with its timestamp, RFC 3339 with nanoseconds. */
  readonly timestamps?: boolean | undefined;
}

/** Options of a log stream. */
export interface LogOptions extends CallOptions {
  readonly signal: AbortSignal;
  /** Longest line to hold in memory. Default: `maxResponseBytes` of the client. */
  readonly maxLineBytes?: number;
}

/** A request that no other method covers. */
export interface RawRequest extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** A write that the API server accepted. Caches merge it, so that a read never lags behind the process's own writes. */
export type AcceptedWrite =
  | { readonly type: "written"; readonly resource: ResourceType; readonly object: KubeObject }
  | {
      readonly type: "gone";
      readonly resource: ResourceType;
      readonly key: ObjectKey;
      readonly uid: string | undefined;
    };

/** The client of the API server: one method per verb, every call with a deadline and an AbortSignal. */
export interface KubeClient {
  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T>;
  /** Like get, but returns undefined if the object does not exist. */
  find<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T | undefined>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** All pages, `limit` (default 500) objects at a time. An expired continue token restarts the list once. */
  listAll<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<KubeList<T>>;
  /**
   * Events until the server closes the watch. Throws KubeApiError if the watch is rejected, KubeConnectionError if it
   * breaks.
   */
  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  replace<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Server-side apply. */
  apply<T extends KubeObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T>;
  delete<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<DeleteResult<T>>;
  /**
   * GET through the API server's pods/proxy. Returns any response of the pod; throws only if the proxying itself fails.
   */
  podProxyGet(request: ProxyRequest): Promise<{ readonly status: number; readonly body: string }>;
  /**
   * The lines of one container's log, without blank ones. The deadline covers only the opening; after that a log may be
   * silent as long as its container is. The iterable ends with the log, and without an error when the signal fires. The
   * log of a pod without a node is empty and ends at once, even if it is followed.
   */
  podLogs(request: LogRequest, options: LogOptions): AsyncIterable<string>;
  /** Any other request (discovery, TokenReview, evictions): the decoded JSON response. */
  request(request: RawRequest): Promise<unknown>;
  /** Called for every accepted write of this client, before the call returns. Returns a function that unsubscribes. */
  onWrite(listener: (write: AcceptedWrite) => void): () => void;
  /** Closes idle connections and rejects further calls. */
  close(): void;
}
