// Decodes what a watch connection delivers into reflector events. Anything that is not an event of this kind is an
// error: an event that was skipped unread could be a deletion.
import type { WatchEvent } from "../client/client.ts";
import { INITIAL_EVENTS_END } from "../client/watch.ts";
import { type ApiStatus, KubeApiError } from "../core/errors.ts";
import type { KubeObject } from "../core/object.ts";
import type { EventStream, ReflectorEvent } from "./reflector/states.ts";
import { MalformedObjectError, type Shaper } from "./stored-object.ts";

export function decodeEvent<T extends KubeObject>(event: WatchEvent<T>, shape: Shaper<T>): ReflectorEvent<T> {
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
      return { type: "put", entry: shape(event.object) };
    case "DELETED":
      return { type: "remove", entry: shape(event.object) };
    case "BOOKMARK":
      return decodeBookmark(event.object);
    case "ERROR":
      throw decodeError(event.object);
    default:
      throw new MalformedObjectError(`watch event has the unknown type ${JSON.stringify(event)?.slice(0, 200)}`);
  }
}

/** One connection as a stream of decoded events; closing it aborts the connection. */
export function eventStream<T extends KubeObject>(
  events: AsyncIterable<WatchEvent<T>>,
  shape: Shaper<T>,
  connection: AbortController,
): EventStream<T> {
  const iterator = events[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await iterator.next();
      return done === true ? undefined : decodeEvent(value, shape);
    },
    async close() {
      try {
        await iterator.return?.();
      } catch (error) {
        // An aborted connection rejects once more when it is closed.
        if (!connection.signal.aborted) throw error;
      } finally {
        connection.abort();
      }
    },
  };
}

function decodeBookmark<T extends KubeObject>(object: KubeObject): ReflectorEvent<T> {
  const { resourceVersion: version, annotations } = object?.metadata ?? {};
  if (typeof version !== "string" || version === "") throw new MalformedObjectError("bookmark has no resourceVersion");
  return { type: "bookmark", version, initialEnd: annotations?.[INITIAL_EVENTS_END] === "true" };
}

function decodeError(object: unknown): Error {
  if (!isStatus(object)) return new MalformedObjectError("watch error event has no status code");
  return new KubeApiError("watch", object.code, object);
}

function isStatus(object: unknown): object is ApiStatus & { readonly code: number } {
  return typeof object === "object" && object !== null && "code" in object && typeof object.code === "number";
}
