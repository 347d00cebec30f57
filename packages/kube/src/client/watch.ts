// Reads the events of one watch from an open response: one JSON document per line. Reads no faster than its consumer,
// fails when the connection is silent for too long, and interprets no event: ERROR events are yielded as they are.
import type { IncomingMessage } from "node:http";
import type { Clock } from "../core/clock.ts";
import { DecodeError, KubeConnectionError, KubeTimeoutError, ResponseTooLargeError } from "../core/errors.ts";
import { isFields } from "../core/fields.ts";
import type { KubeObject } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";
import { decodeJson, decodeObject } from "./api-response.ts";
import type { WatchEvent, WatchOptions } from "./client.ts";
import { LineSplitter } from "./line-splitter.ts";

/** Annotation of the bookmark that terminates the initial state of a streaming list. */
export const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

export interface WatchStream<T extends KubeObject> {
  readonly response: IncomingMessage;
  readonly type: ResourceType<T>;
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
  /** Longest silence before the initial state is complete. */
  readonly initialIdleTimeoutMs: number;
  readonly maxLineBytes: number;
  readonly clock: Clock;
  readonly request: string;
  /** Whether the stream begins with the current state. */
  readonly initialEvents: boolean;
  readonly isKnown: WatchOptions["isKnown"];
}

export async function* watchEvents<T extends KubeObject>(stream: WatchStream<T>): AsyncGenerator<WatchEvent<T>> {
  const { response, request } = stream;
  const lines = new LineSplitter(stream.maxLineBytes);
  const guard = new StreamGuard(stream);
  const decode = eventDecoder(stream, guard);
  try {
    for await (const chunk of response) {
      guard.received();
      for (const line of lines.push(chunk)) {
        guard.check();
        yield decode(line);
      }
      guard.waiting();
    }
    guard.check();
    const rest = lines.end();
    if (rest !== undefined) yield decode(rest);
  } catch (cause) {
    guard.check();
    if (cause instanceof DecodeError || cause instanceof ResponseTooLargeError) throw cause;
    throw new KubeConnectionError(`${request}: connection broken: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  } finally {
    guard.close();
    response.destroy();
  }
}

/** Ends the stream on abort and on silence, and keeps the reason. */
class StreamGuard {
  readonly #stream: WatchStream<KubeObject>;
  readonly #abort = (): void => this.#stop(this.#stream.signal.reason);
  #ending: { readonly reason: unknown } | undefined;
  /** Undefined while the consumer is busy: that silence is not the server's. */
  #waitingSinceMs: number | undefined;
  #cancelTimer: () => void;
  #idleTimeoutMs: number;

  constructor(stream: WatchStream<KubeObject>) {
    this.#stream = stream;
    this.#idleTimeoutMs = stream.initialEvents ? stream.initialIdleTimeoutMs : stream.idleTimeoutMs;
    this.#waitingSinceMs = stream.clock.monotonicMs();
    this.#cancelTimer = stream.clock.after(this.#idleTimeoutMs, this.#check);
    stream.signal.addEventListener("abort", this.#abort, { once: true });
    if (stream.signal.aborted) this.#abort();
  }

  /** The initial state is complete: from now on longer silence is normal. */
  live(): void {
    this.#idleTimeoutMs = this.#stream.idleTimeoutMs;
  }

  received(): void {
    this.#waitingSinceMs = undefined;
  }

  waiting(): void {
    this.#waitingSinceMs = this.#stream.clock.monotonicMs();
  }

  check(): void {
    if (this.#ending !== undefined) throw this.#ending.reason;
  }

  close(): void {
    this.#cancelTimer();
    this.#stream.signal.removeEventListener("abort", this.#abort);
  }

  /** One timer that checks the time, instead of a new timer for every chunk. */
  readonly #check = (): void => {
    const { clock, request } = this.#stream;
    const idleTimeoutMs = this.#idleTimeoutMs;
    const nowMs = clock.monotonicMs();
    const quietMs = nowMs - (this.#waitingSinceMs ?? nowMs);
    if (quietMs >= idleTimeoutMs) this.#stop(new KubeTimeoutError(`${request}: no data for ${idleTimeoutMs} ms`));
    else this.#cancelTimer = clock.after(idleTimeoutMs - quietMs, this.#check);
  };

  #stop(reason: unknown): void {
    this.#ending ??= { reason };
    this.#stream.response.destroy();
  }
}

const EVENT_TYPES: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]);
const isEventType = (value: unknown): value is WatchEvent<unknown>["type"] => EVENT_TYPES.has(value);

/** Decodes lines, except for events that the caller already knows: their version is found without parsing the rest. */
function eventDecoder<T extends KubeObject>(
  stream: WatchStream<T>,
  guard: StreamGuard,
): (line: Buffer) => WatchEvent<T> {
  const { isKnown } = stream;
  let isLive = !stream.initialEvents;
  return (line) => {
    const version = isLive && isKnown !== undefined ? versionOf(line) : undefined;
    if (version !== undefined && isKnown?.(version) === true) return bookmark(version, stream.type);
    const event = decodeEvent(line.toString("utf8"), stream);
    if (!isLive && endsInitialState(event)) {
      isLive = true;
      guard.live();
    }
    return event;
  };
}

/** The version of an ADDED or MODIFIED event that contains exactly one; undefined if only decoding can decide. */
function versionOf(line: Buffer): string | undefined {
  const head = line.toString("latin1", 0, HEAD_BYTES);
  if (!CHANGES.some((start) => head.startsWith(start))) return undefined;
  const at = line.indexOf(VERSION_MARK);
  const from = at + VERSION_MARK.length;
  const to = line.indexOf(QUOTE, from);
  // Quotes inside strings are escaped, so this is a field of that name; a second one could be the object's own.
  if (at < 0 || to < 0 || line.indexOf(VERSION_MARK, to) >= 0) return undefined;
  return line.toString("latin1", from, to);
}

const CHANGES = ['{"type":"ADDED",', '{"type":"MODIFIED",'];
const HEAD_BYTES = 20;
const VERSION_MARK = Buffer.from('"resourceVersion":"');
const QUOTE = 0x22;

function bookmark<T extends KubeObject>(version: string, type: ResourceType<T>): WatchEvent<T> {
  return { type: "BOOKMARK", object: decodeObject({ metadata: { resourceVersion: version } }, type, "bookmark") };
}

function endsInitialState({ type, object }: WatchEvent<KubeObject>): boolean {
  return type === "BOOKMARK" && object.metadata?.annotations?.[INITIAL_EVENTS_END] === "true";
}

function decodeEvent<T extends KubeObject>(line: string, stream: WatchStream<T>): WatchEvent<T> {
  const { request, type } = stream;
  const event = decodeJson(line, request);
  if (!isFields(event) || !isEventType(event["type"]))
    throw new DecodeError(
      `${request}: expected a watch event, got ${isFields(event) ? `type ${JSON.stringify(event["type"])}` : typeof event}`,
    );
  return { type: event["type"], object: decodeObject(event["object"], type, request) };
}
