// The vocabulary of the reflector: its states, what it asks of the world (`ReflectorIo`) and what it reports. Data only.
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
  /** Something arrived that is not an event of this kind: what else was missed is unknown. */
  | "undecodable"
  /** Somebody needs a state that is at least as new as the moment of the request. */
  | "refresh"
  /** The server's history is shorter than what was already seen: its storage was restored. */
  | "rewound";

export type ReflectorState<T extends KubeObject> =
  /** Nothing is known, or what is known can't be continued from. */
  | {
      readonly type: "listing";
      readonly reason: RelistReason;
      readonly failures: number;
      /** In pages although the server offers streaming: the last stream fell silent before it was complete. */
      readonly inPages?: boolean;
    }
  /** The present state arrives as events of a watch. */
  | {
      readonly type: "streaming";
      readonly reason: RelistReason;
      readonly failures: number;
      readonly stream: EventStream<T>;
      readonly openedMs: number;
      readonly relist: Relist<T>;
    }
  /** The present state arrives in pages. */
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
      /** Whether this connection has delivered anything after the initial state. */
      readonly delivered: boolean;
    })
  /** A whole connection passed in silence: is the server's history still where it was? */
  | (Position & { readonly type: "probing" })
  | Waiting<T>;

interface Position {
  readonly version: string;
  /** Whether a watch has worked since the last complete list: if not, listing again at once would go in circles. */
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
  /** `initialEnd`: the present state is complete with this bookmark. */
  | { readonly type: "bookmark"; readonly version: string; readonly initialEnd: boolean };

/** One watch connection. `next` answers undefined when the server ends it, and throws what goes wrong. */
export interface EventStream<T extends KubeObject> {
  next(): Promise<ReflectorEvent<T> | undefined>;
  close(): Promise<void>;
}

export interface Page<T extends KubeObject> {
  readonly entries: readonly Entry<T>[];
  readonly version: string;
  /** Where the next page begins; undefined on the last one. */
  readonly token: string | undefined;
}

/** What happened, for logs and metrics. */
export type ReflectorNote =
  | { readonly type: "listed"; readonly reason: RelistReason; readonly version: string; readonly rewound: boolean }
  | { readonly type: "relisting"; readonly reason: RelistReason; readonly error: unknown }
  | { readonly type: "resuming" }
  | { readonly type: "event"; readonly event: ReflectorEvent<KubeObject>["type"] }
  | { readonly type: "failed"; readonly error: unknown; readonly failures: number; readonly retryMs: number }
  | { readonly type: "unavailable"; readonly error: unknown; readonly retryMs: number }
  | { readonly type: "streamingRefused"; readonly error: unknown };

export interface ReflectorTimings {
  readonly backoff: BackoffPolicy;
  /** How often a namespace that may not be read (or a kind that is not there) is tried again. */
  readonly unavailableRetryMs: number;
  /** A connection that lasted this long has worked, even if it had nothing to say. */
  readonly provenMs: number;
}

export interface ReflectorIo<T extends KubeObject> {
  readonly timings: ReflectorTimings;
  readonly writer: ScopeWriter<T>;
  /** Ends every wait below with RefreshRequested when a list falls due. */
  readonly refreshes: Pick<RefreshRequests, "due" | "listBegins" | "listEnded">;
  /** One of several namespaces: being refused is its own affair and holds nobody up. */
  readonly optional: boolean;
  /** False once the server has refused a streaming list. */
  streamingOffered(): boolean;
  /** Opens a watch from a version, or one that first sends the present state. Problems show in `next`. */
  open(version: string | undefined): EventStream<T>;
  page(token: string | undefined): Promise<Page<T>>;
  /** The version that the server's storage is at now. */
  currentVersion(): Promise<string>;
  wait(delayMs: number): Promise<void>;
  monotonicMs(): number;
  random(): number;
  /** True when the reflector is to end: errors are then its own doing. */
  stopped(): boolean;
  report(note: ReflectorNote): void;
}
