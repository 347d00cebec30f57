// The list and watch of one namespace (or all) as a state machine. One step performs one I/O operation and returns the
// next state; nothing here calls back or restarts itself.
import { backoffMs } from "../../core/backoff.ts";
import { KubeApiError, KubeConnectionError, KubeTimeoutError } from "../../core/errors.ts";
import type { KubeObject } from "../../core/object.ts";
import { isOlder } from "../../core/resource-version.ts";
import { RefreshRequested } from "./refresh-requests.ts";
import type { EventStream, ReflectorEvent, ReflectorIo, ReflectorState, Resuming } from "./states.ts";

type State<T extends KubeObject, K extends ReflectorState<T>["type"]> = Extract<
  ReflectorState<T>,
  { readonly type: K }
>;

/** Steps until stopped. Rejects only for a defect. */
export async function runReflector<T extends KubeObject>(io: ReflectorIo<T>): Promise<void> {
  let state: ReflectorState<T> = { type: "listing", reason: "start", failures: 0 };
  try {
    while (!io.stopped())
      state =
        io.refreshes.due && state.type !== "listing" ? await refresh(state) : await stepUnlessRefreshed(state, io);
  } catch (error) {
    if (!io.stopped()) throw error;
  } finally {
    if ("stream" in state) await state.stream.close();
  }
}

/** Replaces the current activity by a complete list on a new connection: the present one may be stalled. */
async function refresh<T extends KubeObject>(state: ReflectorState<T>): Promise<State<T, "listing">> {
  if ("stream" in state) await state.stream.close();
  return { type: "listing", reason: "refresh", failures: 0 };
}

async function stepUnlessRefreshed<T extends KubeObject>(
  state: ReflectorState<T>,
  io: ReflectorIo<T>,
): Promise<ReflectorState<T>> {
  try {
    return await step(state, io);
  } catch (error) {
    if (error instanceof RefreshRequested) return state;
    throw error;
  }
}

export async function step<T extends KubeObject>(
  state: ReflectorState<T>,
  io: ReflectorIo<T>,
): Promise<ReflectorState<T>> {
  switch (state.type) {
    case "waiting":
      await io.wait(state.delayMs);
      return state.next;
    case "listing":
      return startListing(state, io);
    case "streaming":
      return readInitialEvent(state, io);
    case "paging":
      return readPage(state, io);
    case "resuming": {
      const { version, proven, failures } = state;
      io.report({ type: "resuming" });
      const stream = io.open(version);
      return { type: "watching", version, proven, failures, stream, openedMs: io.monotonicMs(), delivered: false };
    }
    case "watching":
      return readEvent(state, io);
    case "probing":
      return probe(state, io);
  }
}

function startListing<T extends KubeObject>(state: State<T, "listing">, io: ReflectorIo<T>): ReflectorState<T> {
  const { reason, failures } = state;
  // The buffer opens before the request is sent: objects deleted from here on may still be in the list.
  const relist = io.writer.beginRelist();
  io.refreshes.listBegins();
  if (state.inPages === true || !io.streamingOffered())
    return { type: "paging", reason, failures, relist, token: undefined };
  const openedMs = io.monotonicMs();
  return { type: "streaming", reason, failures, relist, openedMs, stream: io.open(undefined) };
}

async function readInitialEvent<T extends KubeObject>(
  state: State<T, "streaming">,
  io: ReflectorIo<T>,
): Promise<ReflectorState<T>> {
  const { stream, relist, reason, openedMs, failures } = state;
  const read = await take(stream, io);
  const again = { type: "listing", reason, failures } as const;
  if (read.type === "failed") {
    await stream.close();
    // A server without streaming lists is also silent, for a kind without objects, until its first bookmark.
    const inPages = read.error instanceof KubeTimeoutError;
    if (!isUnsupported(read.error)) return afterFailure({ ...again, inPages }, read.error, io);
    io.report({ type: "streamingUnsupported", error: read.error });
    return again;
  }
  if (read.type === "ended") {
    await stream.close();
    return afterFailure(again, new KubeConnectionError("the watch ended before the initial state was complete"), io);
  }
  const { event } = read;
  if (event.type !== "bookmark") {
    relist[event.type](event.entry);
    return state;
  }
  if (!event.initialEnd) {
    // A server without streaming lists sends ordinary bookmarks and never marks the state as complete.
    await stream.close();
    io.report({ type: "streamingUnsupported", error: undefined });
    return again;
  }
  commit(state, event.version, io);
  const { version } = event;
  return { type: "watching", version, proven: false, failures, stream, openedMs, delivered: false };
}

async function readPage<T extends KubeObject>(
  state: State<T, "paging">,
  io: ReflectorIo<T>,
): Promise<ReflectorState<T>> {
  const { reason, failures, relist, token } = state;
  const page = await attempt(() => io.page(token), io);
  if (page.type === "failed") return afterFailure({ type: "listing", reason, failures }, page.error, io);
  const { entries, version, token: next } = page.value;
  for (const entry of entries) relist.put(entry);
  if (next !== undefined) return { ...state, token: next };
  commit(state, version, io);
  return { type: "resuming", version, proven: false, failures };
}

async function readEvent<T extends KubeObject>(
  state: State<T, "watching">,
  io: ReflectorIo<T>,
): Promise<ReflectorState<T>> {
  const read = await take(state.stream, io);
  if (read.type !== "event") return afterConnection(state, read.type === "failed" ? read.error : undefined, io);
  const { event } = read;
  io.report({ type: "event", event: event.type });
  const version = event.type === "bookmark" ? event.version : event.entry.version;
  if (event.type === "bookmark" && isOlder(version, state.version)) {
    await state.stream.close();
    return relistNow("rewound", undefined, io);
  }
  if (event.type === "bookmark") io.writer.bookmark(version);
  else io.writer[event.type](event.entry);
  const known = isOlder(version, state.version) ? state.version : version;
  return { ...state, version: known, proven: true, delivered: true, failures: 0 };
}

/** A connection ended: by the server's own timeout (no error), or because it failed. */
async function afterConnection<T extends KubeObject>(
  state: State<T, "watching">,
  error: unknown,
  io: ReflectorIo<T>,
): Promise<ReflectorState<T>> {
  await state.stream.close();
  const { version, delivered } = state;
  const worked = delivered || io.monotonicMs() - state.openedMs >= io.timings.provenMs;
  const proven = state.proven || (worked && error === undefined);
  const resume: Resuming = { type: "resuming", version, proven, failures: worked ? 0 : state.failures };
  if (error === undefined && worked) return resume;
  const lost = relistReason(error);
  if (lost !== undefined) {
    // Right after a list the same would happen again: back off.
    const listing = { type: "listing", reason: lost, failures: resume.failures } as const;
    return proven ? relistNow(lost, error, io) : afterFailure(listing, error, io);
  }
  // Bookmarks arrive about every minute. A server whose storage was rolled back sends none until it has caught up with
  // us.
  if (error instanceof KubeTimeoutError && !delivered) return { ...resume, type: "probing" };
  return afterFailure(resume, error ?? new KubeConnectionError("the watch ended without an event"), io);
}

async function probe<T extends KubeObject>(state: State<T, "probing">, io: ReflectorIo<T>): Promise<ReflectorState<T>> {
  const resume: Resuming = { ...state, type: "resuming" };
  const current = await attempt(() => io.currentVersion(), io);
  if (current.type === "failed") return afterFailure(resume, current.error, io);
  if (isOlder(current.value, state.version)) return relistNow("rewound", undefined, io);
  return resume;
}

function commit<T extends KubeObject>(
  { relist, reason }: State<T, "streaming"> | State<T, "paging">,
  version: string,
  io: ReflectorIo<T>,
): void {
  const { rewound } = relist.commit(version);
  io.report({ type: "listed", reason, version, rewound });
  io.refreshes.listEnded();
}

function relistNow<T extends KubeObject>(
  reason: State<T, "listing">["reason"],
  error: unknown,
  io: ReflectorIo<T>,
): State<T, "listing"> {
  io.report({ type: "relisting", reason, error });
  return { type: "listing", reason, failures: 0 };
}

function afterFailure<T extends KubeObject>(
  next: State<T, "listing"> | Resuming,
  error: unknown,
  io: ReflectorIo<T>,
): State<T, "waiting"> {
  const { timings } = io;
  if (io.optional && error instanceof KubeApiError && (error.status === 403 || error.status === 404)) {
    io.report({ type: "unavailable", error, retryMs: timings.unavailableRetryMs });
    io.refreshes.listEnded();
    return { type: "waiting", delayMs: timings.unavailableRetryMs, next };
  }
  const retryAfterMs = error instanceof KubeApiError ? (error.retryAfterMs ?? 0) : 0;
  const delayMs = Math.max(retryAfterMs, backoffMs(timings.backoff, next.failures, io.random));
  io.report({ type: "failed", error, failures: next.failures, retryMs: delayMs });
  return { type: "waiting", delayMs, next: { ...next, failures: next.failures + 1 } };
}

/** Why this error invalidates the known version; undefined if the watch can resume from it. */
function relistReason(error: unknown): "expired" | "undecodable" | undefined {
  if (error === undefined || error instanceof KubeConnectionError || error instanceof KubeTimeoutError)
    return undefined;
  if (!(error instanceof KubeApiError)) return "undecodable";
  return error.status === 410 ? "expired" : undefined;
}

const isUnsupported = (error: unknown): boolean =>
  error instanceof KubeApiError && (error.status === 400 || error.status === 422);

type Attempt<V> = { readonly type: "done"; readonly value: V } | { readonly type: "failed"; readonly error: unknown };

async function attempt<V, T extends KubeObject>(call: () => Promise<V>, io: ReflectorIo<T>): Promise<Attempt<V>> {
  try {
    return { type: "done", value: await call() };
  } catch (error) {
    if (io.stopped() || error instanceof RefreshRequested) throw error;
    return { type: "failed", error };
  }
}

type Read<T extends KubeObject> =
  | { readonly type: "event"; readonly event: ReflectorEvent<T> }
  | { readonly type: "ended" }
  | { readonly type: "failed"; readonly error: unknown };

async function take<T extends KubeObject>(stream: EventStream<T>, io: ReflectorIo<T>): Promise<Read<T>> {
  const read = await attempt(() => stream.next(), io);
  if (read.type === "failed") return read;
  return read.value === undefined ? { type: "ended" } : { type: "event", event: read.value };
}
