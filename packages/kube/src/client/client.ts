// The typed face of the API server: one method per verb, every call with a deadline and an AbortSignal.
import type { KubeList, KubeObject, ObjectKey } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";

/** What every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Deadline of the whole call, retries of 429 included. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact";
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  /** Ask for the present state as ADDED events, closed by a bookmark (streaming list). */
  readonly sendInitialEvents?: boolean;
  /** The server ends the watch after this long. */
  readonly timeoutSeconds: number;
  /** The watch fails when no byte arrives for this long. */
  readonly idleTimeoutMs: number;
  /** The same while the present state arrives. Default: `idleTimeoutMs`. */
  readonly initialIdleTimeoutMs?: number;
  /** The watch fails when its response headers do not arrive within this long, the connection included. Default 10 s. */
  readonly openTimeoutMs?: number;
  /**
   * Asked about ADDED and MODIFIED events after the initial state, by their version and before they are decoded. One that is known
   * comes out as a bookmark of that version.
   */
  readonly isKnown?: (version: string) => boolean;
}

/** One event of a watch, as the server sent it. */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: T;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly subresource?: string;
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take fields over from other managers. */
  readonly force?: boolean;
}

/** A change of an object, in one of the three ways that the API server knows. */
export type Patch =
  | { readonly type: "merge"; readonly body: object }
  | { readonly type: "json"; readonly body: readonly object[] }
  | { readonly type: "strategic"; readonly body: object };

export interface DeleteOptions extends CallOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: "Foreground" | "Background" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** What a delete came to: the object is gone, or it stays (with a deletionTimestamp) until finalizers or dependents are done. */
export type DeleteResult<T> = { readonly type: "gone" } | { readonly type: "terminating"; readonly object: T };

/** A GET to a port of a pod, through the API server. */
export interface ProxyRequest extends CallOptions {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  readonly path: string;
  /** The answer is refused past this many bytes. Default 1 MiB. */
  readonly maxBytes?: number;
  /**
   * Limit for getting a connection (a free socket, the tunnel, the handshake), and once more from there to the response headers.
   * Default: only the deadline of the whole call.
   */
  readonly firstByteMs?: number;
}

/** Which log, and how much of it. */
export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The last so many lines; undefined means all. */
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  /** Stay with the log as it grows. */
  readonly follow?: boolean | undefined;
  /** Of the container's previous run. */
  readonly previous?: boolean | undefined;
  readonly limitBytes?: number | undefined;
  /** Each line begins with its time, RFC 3339 with nanoseconds. */
  readonly timestamps?: boolean | undefined;
}

export interface LogOptions extends CallOptions {
  readonly signal: AbortSignal;
  /** Longest line to hold in memory. Default: the longest answer of the client. */
  readonly maxLineBytes?: number;
}

/** A request that no verb covers. */
export interface RawRequest extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** One write that the API server has accepted. Caches merge it so that a read never lags behind the operator's own writes. */
export type AcceptedWrite =
  | { readonly type: "written"; readonly resource: ResourceType; readonly object: KubeObject }
  | {
      readonly type: "gone";
      readonly resource: ResourceType;
      readonly key: ObjectKey;
      readonly uid: string | undefined;
    };

/** The typed face of the API server: one method per verb, every call with a deadline and an AbortSignal. */
export interface KubeClient {
  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T>;
  /** Like get, with absence as `undefined`. */
  find<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T | undefined>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** All pages, `limit` (default 500) objects at a time. Expired continue tokens restart the list once. */
  listAll<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** Events until the server ends the watch. Throws KubeApiError for a refused watch, KubeConnectionError for a broken one. */
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
  /** GET through the API server's pods/proxy. Answers whatever the pod answers; throws only when the proxying itself fails. */
  podProxyGet(request: ProxyRequest): Promise<{ readonly status: number; readonly body: string }>;
  /**
   * The lines of one container's log, blank ones left out. The deadline covers the opening; after that a log may be silent for as long
   * as its container is. It ends with the log, and without an error when the signal fires.
   */
  podLogs(request: LogRequest, options: LogOptions): AsyncIterable<string>;
  /** Anything else (discovery, TokenReview, evictions): the decoded JSON answer. */
  request(request: RawRequest): Promise<unknown>;
  /** Told of every accepted write of this client, before the writing call returns. Returns the way to unsubscribe. */
  onWrite(listener: (write: AcceptedWrite) => void): () => void;
  /** Closes idle connections and refuses further calls. */
  close(): void;
}
