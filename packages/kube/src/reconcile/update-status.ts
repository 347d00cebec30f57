// The one status write of a pass. It never overwrites a status that the pass did not start from, and writes nothing if
// nothing changed.
import { isDeepStrictEqual } from "node:util";
import type { StatusStore } from "./status-store.ts";

/** The part of an object that decides whether a status may be written over it. */
interface StatusObject<S> {
  readonly metadata?: { readonly uid?: string; readonly generation?: number };
  readonly status?: S;
}

/** A status to write. */
export interface StatusUpdate<T, S> {
  /** The object that the pass started from. */
  readonly object: T;
  readonly status: S;
  /** Whether nothing needs to be written. Default: deep equality. Override it to ignore a timestamp. */
  readonly isSame?: (stored: S | undefined, next: S) => boolean;
  /**
   * Discards the status if the spec changed meanwhile: for a status that claims an observed generation. Default false.
   */
  readonly sameGeneration?: boolean;
}

/** The outcome of a status write. */
export type StatusOutcome<T> =
  | { readonly type: "written"; readonly object: T }
  | { readonly type: "unchanged" }
  /** Another writer changed the status meanwhile: what the pass decided is void. */
  | { readonly type: "discarded" }
  | { readonly type: "gone" };

/**
 * Writes a status unless it is unchanged. After a conflict the object is read again: if only other parts of it changed,
 * the write is repeated once; otherwise the status is discarded.
 */
export async function updateStatus<T extends StatusObject<S>, S>(
  store: StatusStore<T, S>,
  update: StatusUpdate<T, S>,
): Promise<StatusOutcome<T>> {
  const { object, status, isSame = isDeepStrictEqual } = update;
  if (isSame(object.status, status)) return { type: "unchanged" };
  const first = await store.write(object, status);
  if (first.type !== "conflict") return first;
  const fresh = await store.read(object);
  if (fresh === undefined) return { type: "gone" };
  if (!isBase(fresh, update)) return { type: "discarded" };
  const second = await store.write(fresh, status);
  return second.type === "conflict" ? { type: "discarded" } : second;
}

/** Whether the pass would have started from the same state. */
function isBase<T extends StatusObject<S>, S>(fresh: T, { object, sameGeneration }: StatusUpdate<T, S>): boolean {
  if (fresh.metadata?.uid !== object.metadata?.uid || !isDeepStrictEqual(fresh.status, object.status)) return false;
  return sameGeneration !== true || fresh.metadata?.generation === object.metadata?.generation;
}
