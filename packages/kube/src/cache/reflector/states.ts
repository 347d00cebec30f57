// The states of the reflector, the I/O it needs (`ReflectorIo`) and the notes it reports. Data only.
import type { BackoffPolicy } from "../../core/backoff.ts";
import type { KubeObject } from "../../core/object.ts";
import type { Relist, ScopeWriter } from "../store-scope.ts";
import type { Entry } from "../stored-object.ts";
import type { RefreshRequests } from "./refresh-requests.ts";

/** Why a complete list is due. */
export type RelistReason =
  | "start"
  /** The server no longer has the history since the last known version (410). */
  | "expired"
  /** Something that is not an event of this kind arrived: events may have been missed. */
  | "undecodable"
  /** A caller needs a state that is at least as new as its request. */
  | "refresh"
  /** The server's history is shorter than what was already observed: its storage was restored. */
  | "rewound";

export type ReflectorState<T extends KubeObject> =
  /** Nothing is known, or the known version cannot be resumed from. */
  | {
      readonly type: "listing";
      readonly reason: RelistReason;
      readonly failures: number;
      /** In pages although the server supports streaming: the last stream fell silent before it was complete. */
      readonly inPages?: boolean;
    }
  /** The current state arrives as events of a watch (streaming list). */
  | {
      readonly type: "streaming";
      readonly reason: RelistReason;
      readonly failures: number;
      readonly stream: EventStream<T>;
      readonly openedMs: number;
      readonly relist: Relist<T>;
    }
  /** The current state arrives in pages. */
  | {
      readonly type: "paging";
      readonly reason: RelistReason;
      readonly failures: number;
      readonly token: string | undefined;
      readonly relist: Relist<T>;
    }
  | Resuming
  /** Events are arriving. */
  | (Position & {
      readonly type: "watching";
      readonly stream: EventStream<T>;
      readonly openedMs: number;
      /** Whether this connection has delivered an event after the initial state. */
      readonly delivered: boolean;
    })
  /** A whole connection passed in silence: check that the server's history has not been rolled back. */
  | (Position & { readonly type: "probing" })
  | Waiting<T>;

interface Position {
  readonly version: string;
  /** Whether a watch has worked since the last complete list: if not, relisting at once would loop. */
  readonly proven: boolean;
  readonly failures: number;
}

/** Everything up to a version is known; the watch continues from there. */
export type Resuming = Position & { readonly type: "resuming" };

export interface Waiting<T extends KubeObject> {
  readonly type: "waiting";
  readonly delayMs: number;
  readonly next: ReflectorState<T>;
}

export type ReflectorEvent<T extends KubeObject> =
  | { readonly type: "put"; readonly entry: Entry<T> }
  | { readonly type: "remove"; readonly entry: Entry<T> }
  /** `initialEnd`: the initial state is complete with this bookmark. */
  | { readonly type: "bookmark"; readonly version: string; readonly initialEnd: boolean };

/** One watch connection. `next` returns undefined when the server closes it, and throws on failure. */
export interface EventStream<T extends KubeObject> {
  next(): Promise<ReflectorEvent<T> | undefined>;
  close(): Promise<void>;
}

export interface Page<T extends KubeObject> {
  readonly entries: readonly Entry<T>[];
  readonly version: string;
  /** Continue token of the next page; undefined on the last one. */
  readonly token: string | undefined;
}

/** A report for logs and metrics. */
export type ReflectorNote =
  | { readonly type: "listed"; readonly reason: RelistReason; readonly version: string; readonly rewound: boolean }
  | { readonly type: "relisting"; readonly reason: RelistReason; readonly error: unknown }
  | { readonly type: "resuming" }
  | { readonly type: "event"; readonly event: ReflectorEvent<KubeObject>["type"] }
  | { readonly type: "failed"; readonly error: unknown; readonly failures: number; readonly retryMs: number }
  | { readonly type: "unavailable"; readonly error: unknown; readonly retryMs: number }
  | { readonly type: "streamingUnsupported"; readonly error: unknown };

export interface ReflectorTimings {
  readonly backoff: BackoffPolicy;
  /** How often a namespace that cannot be read (or a kind that does not exist) is retried. */
  readonly unavailableRetryMs: number;
  /** A connection that lasted this long has worked, even if it delivered nothing. */
  readonly provenMs: number;
}

export interface ReflectorIo<T extends KubeObject> {
  readonly timings: ReflectorTimings;
  readonly writer: ScopeWriter<T>;
  /** Every wait below rejects with RefreshRequested when a list becomes due. */
  readonly refreshes: Pick<RefreshRequests, "due" | "listBegins" | "listEnded">;
  /** One of several namespaces: if it cannot be read, the others continue without it. */
  readonly optional: boolean;
  /** False once the server has rejected a streaming list. */
  streamingOffered(): boolean;
  /** Opens a watch from a version, or one that first sends the current state. Failures surface in `next`. */
  open(version: string | undefined): EventStream<T>;
  page(token: string | undefined): Promise<Page<T>>;
  /** The current version of the server's storage. */
  currentVersion(): Promise<string>;
  wait(delayMs: number): Promise<void>;
  monotonicMs(): number;
  random(): number;
  /** True once the reflector is being stopped: errors are then expected. */
  stopped(): boolean;
  report(note: ReflectorNote): void;
}
