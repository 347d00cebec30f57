// The pinned mutants of the runtime: the fence of the lease, read-your-writes, lists and refreshes, repeats of writes,
// the queue, what an error means for its key, and which changes of an object are repaired.
import { type Mutant, unit } from "./mutant.ts";

const ELECTION = "packages/kube/src/election/leader-election.test.ts";
const OWN_WRITES = "packages/kube/src/cache/own-writes.test.ts";
const SCOPE = "packages/kube/src/cache/store-scope.test.ts";
const REFLECTOR = "packages/kube/src/cache/reflector/reflector.test.ts";
const REFRESH = "packages/kube/src/cache/reflector/refresh.test.ts";
const LEADER = "packages/kube/src/controller/leader-refresh.test.ts";
const QUEUE = "packages/kube/src/controller/workqueue.test.ts";
const COVERS = "packages/kube/src/reconcile/covers.test.ts";
const WORKER = "packages/kube/src/controller/worker.test.ts";

export const KUBE_MUTANTS: readonly Mutant[] = [
  {
    name: "a leader may write until others may take its lease",
    file: "packages/kube/src/election/leader-election.ts",
    find: "if (ageMs > this.#options.timing.renewDeadlineMs)",
    replace: "if (ageMs > this.#options.timing.leaseMs + this.#options.timing.renewDeadlineMs * 2)",
    killedBy: unit(ELECTION, "the fence holds by the clock alone", "expected [Function] to throw an error"),
  },
  {
    name: "the lease counts from the end of its renewal",
    file: "packages/kube/src/election/leader-election.ts",
    find: "this.#renewed = started;",
    replace: "this.#renewed = this.#moment();",
    killedBy: unit(
      ELECTION,
      "a renewal counts from the moment it was sent",
      "expected function to throw an error, but it didn't",
    ),
  },
  {
    name: "a leader takes a lost lease back",
    file: "packages/kube/src/election/leader-election.ts",
    find: 'if (this.#state === "leading" && holder !== this.identity) return this.#yieldTo(holder ?? "none");',
    replace: "",
    killedBy: unit(
      ELECTION,
      "a lease that another process took, or that was deleted, is lost at the next renewal",
      "expected undefined to be an instance of NotLeaderError",
    ),
  },
  {
    name: "the lease is released although work goes on",
    file: "packages/kube/src/election/leader-election.ts",
    find: "if (this.#mayHold && !this.#abandoned)",
    replace: "if (this.#mayHold)",
    killedBy: unit(
      ELECTION,
      "an abandoned stop keeps the lease: work may still be running",
      "expected undefined to be 'a'",
    ),
  },
  {
    name: "a lease runs out by the clock of its reader alone",
    file: "packages/kube/src/election/lease.ts",
    find: "promisedSeconds === undefined ? claim.leaseMs : promisedSeconds * 1000",
    replace: "claim.leaseMs",
    killedBy: unit(
      "packages/kube/src/election/lease.test.ts",
      "one with a longer duration is true",
      "expected false to be true",
    ),
  },
  {
    name: "writes are not fenced",
    file: "packages/kube/src/client/calls.ts",
    find: "beforeSend: call.write ? guardWrite : undefined,",
    replace: "beforeSend: call.write === undefined ? guardWrite : undefined,",
    killedBy: unit(
      "packages/kube/src/client/calls.test.ts",
      "every attempt of a write checks the fence first, and is not sent if the fence throws",
      "expected { ok: true } to be an instance of NotLeaderError",
    ),
  },
  {
    name: "the fence is asked before there is a connection",
    file: "packages/kube/src/client/transport/transport.ts",
    find: 'if (isOpening(socket)) socket.once(secure ? "secureConnect" : "connect", release);\n        else release();',
    replace: "release();",
    killedBy: unit(
      "packages/kube/src/client/transport/transport.test.ts",
      "the fence is checked when the connection is open: a handshake may take longer than the lease",
      "the fence was checked: expected 1 to be +0",
    ),
  },
  {
    name: "a write is repeated although bytes of it have left",
    file: "packages/kube/src/client/transport/transport.ts",
    find: 'wire.method === "GET" || request.socket?.bytesWritten === bytesBefore',
    replace: 'wire.method === "GET" || request.socket !== null',
    killedBy: unit(
      "packages/kube/src/client/transport/transport.test.ts",
      "a kept-alive connection that breaks after a write was sent: the write is not repeated",
      'promise resolved "{ connection: 2 }" instead of rejecting',
    ),
  },
  {
    name: "a late response of an own write overtakes the watch",
    file: "packages/kube/src/cache/own-writes.ts",
    find: "if (scope.position !== undefined && isNotNewer(version, scope.position)) return;",
    replace: "",
    killedBy: unit(
      OWN_WRITES,
      "is ignored if the watch is already past it, even if the object was deleted since",
      "expected [ 1, [ 'added ns/a@6 write' ] ] to deeply equal [ +0, [] ]",
    ),
  },
  {
    name: "an own write that leaves the selection stays visible",
    file: "packages/kube/src/cache/own-writes.ts",
    find: 'if (stored !== undefined) store.change("write", (batch) => batch.remove(stored));\n    return;',
    replace: "return;",
    killedBy: unit(
      OWN_WRITES,
      "removes an object that a write takes out of the selection, despite late events",
      "expected [ 'added ns/a@5 watch' ] to deeply equal [ 'added ns/a@5 watch', …(1) ]",
    ),
  },
  {
    name: "a write that the cache does not take is awaited as an echo",
    file: "packages/kube/src/cache/own-writes.ts",
    find: "if (!matchesLabels(options.labelSelector, labels)) {",
    replace: "scope.expectEcho(version);\n  if (!matchesLabels(options.labelSelector, labels)) {",
    killedBy: unit(OWN_WRITES, "that the cache ignored is not an echo", "expected true to be false"),
  },
  {
    name: "an own delete leaves no tombstone",
    file: "packages/kube/src/cache/own-writes.ts",
    find: "store.tombstones.mark(scope, uid);",
    replace: "",
    killedBy: unit(
      OWN_WRITES,
      "is visible at once, and late events do not undo it",
      "expected [ [ 'added ns/a@6 watch', …(1) ], +0 ] to deeply equal [ [], +0 ]",
    ),
  },
  {
    name: "an echo is skipped more than once",
    file: "packages/kube/src/cache/store-scope.ts",
    find: "return this.#echoes.delete(version);",
    replace: "return this.#echoes.has(version);",
    killedBy: unit(
      OWN_WRITES,
      "is an echo when the watch delivers it, once",
      "expected [ false, true, true ] to deeply equal [ false, true, false ]",
    ),
  },
  {
    name: "echoes survive a rewind",
    file: "packages/kube/src/cache/store-scope.ts",
    find: "this.#echoes.clear();",
    replace: "",
    killedBy: unit(
      OWN_WRITES,
      "is not an echo after a rewind: the version may belong to another write",
      "expected true to be false",
    ),
  },
  {
    name: "a list undoes an own write that is newer",
    file: "packages/kube/src/cache/store-scope.ts",
    find: "if (rewound || !isNewer(stored.version, version)) batch.remove(stored);",
    replace: "batch.remove(stored);",
    killedBy: unit(
      SCOPE,
      "does not undo a write made after it was taken",
      "expected [ 'deleted ns/b@22 watch' ] to deeply equal []",
    ),
  },
  {
    name: "a list brings back what was deleted while it arrived",
    file: "packages/kube/src/cache/store-scope.ts",
    find: "const since = this.#store.tombstones.sequence;",
    replace: "const since = Number.MAX_SAFE_INTEGER;",
    killedBy: unit(SCOPE, "does not restore an object that was deleted while it was in flight", "expected 1 to be +0"),
  },
  {
    name: "tombstones from before a list hide what it shows",
    file: "packages/kube/src/cache/tombstones.ts",
    find: "if (mark === undefined || mark.sequence <= after) return false;",
    replace: "if (mark === undefined || after < 0) return false;",
    killedBy: unit(
      "packages/kube/src/cache/tombstones.test.ts",
      "a list settles the earlier marks of its own scope",
      "expected true to be false",
    ),
  },
  {
    name: "an expired version is watched again instead of listed",
    file: "packages/kube/src/cache/reflector/reflector.ts",
    find: 'return error.status === 410 ? "expired" : undefined;',
    replace: "return undefined;",
    killedBy: unit(
      REFLECTOR,
      "410 in the middle: lists again and loses no deletion",
      "expected [ 'open initial' ] to have a length of 2 but got 1",
    ),
  },
  {
    name: "an older list serves a refresh",
    file: "packages/kube/src/cache/reflector/refresh-requests.ts",
    find: "this.#served = this.#begun;",
    replace: "this.#served = this.#made;",
    killedBy: unit(
      REFRESH,
      "is not served by an older list that completes at the same moment",
      "expected [ [ 'ns/a@3' ] ] to deeply equal [ [ 'ns/a@12' ] ]",
    ),
  },
  {
    name: "a refresh cuts the list of another refresh short",
    file: "packages/kube/src/cache/reflector/refresh-requests.ts",
    find: "return this.#made > this.#begun && this.#begun === this.#served;",
    replace: "return this.#made > this.#begun;",
    killedBy: unit(
      REFRESH,
      "requested during the list of another refresh lets that one finish and then lists again",
      "expected [ [ 'ns/a@30' ], [ 'ns/a@30' ], …(1) ] to deeply equal [ [ 'ns/a@12', 'ns/b@13' ], …(2) ]",
    ),
  },
  {
    name: "a refresh keeps the connection that stands still",
    file: "packages/kube/src/cache/reflector/reflector.ts",
    find: 'if ("stream" in state) await state.stream.close();\n  return { type: "listing", reason: "refresh"',
    replace: 'return { type: "listing", reason: "refresh"',
    killedBy: unit(
      REFRESH,
      "of a stalled watch lists on a new connection, and the list replaces the cached state",
      "expected [ Array(3) ] to deeply equal [ 'open initial', 'close', …(2) ]",
    ),
  },
  {
    name: "a new leader starts with the caches it has",
    file: "packages/kube/src/controller/manager.ts",
    find: "await refreshForLeader({",
    replace: "void refreshForLeader({",
    killedBy: unit(
      LEADER,
      "leader-only work starts only when every cache is as new as the lease",
      "expected [ '+engines', '+pods', …(5) ] to deeply equal [ '+engines', '+pods', …(3) ]",
    ),
  },
  {
    name: "a cache does not take part in the refresh",
    file: "packages/kube/src/controller/runnable.ts",
    find: "refresh: (signal) => cache.refresh(signal),",
    replace: "",
    killedBy: unit(
      LEADER,
      "the manager refreshes a cache",
      "expected [] to deeply equal [ AbortSignal { aborted: false } ]",
    ),
  },
  {
    name: "a leader that cannot read keeps the lease for ever",
    file: "packages/kube/src/controller/manager.ts",
    find: "timeoutMs: this.#startTimeoutMs }",
    replace: "timeoutMs: this.#startTimeoutMs * 1_000 }",
    killedBy: unit(
      LEADER,
      "a leader that cannot list logs the caches, and after two minutes releases the lease",
      "expected [ '+engines', '+pods', …(3) ] to include '-election'",
    ),
  },
  {
    name: "a key that changes during its pass is forgotten",
    file: "packages/kube/src/controller/workqueue.ts",
    find: "else entry.dueMs = dueMs;",
    replace: "else entry.order += 0;",
    killedBy: unit(
      QUEUE,
      "a key added while it is in work is handed out again, but only after it is done",
      "expected [ 'a' ] to deeply equal [ 'a', 'a' ]",
    ),
  },
  {
    name: "a pass that asks for another at once has no back-off",
    file: "packages/kube/src/controller/workqueue.ts",
    find: "this.#finish(entry, this.#backOff(entry, 0));",
    replace: "this.#finish(entry, this.#clock.monotonicMs());",
    killedBy: unit(
      QUEUE,
      '"requeue" goes through the back-off and keeps it growing',
      "expected [ 'a', 'a', 'a' ] to have a length of 2 but got 3",
    ),
  },
  {
    name: "short delays are spread too",
    file: "packages/kube/src/controller/spread.ts",
    find: "return delayMs < SPREAD_FROM_MS ? delayMs :",
    replace: "return delayMs < 0 ? delayMs :",
    killedBy: unit(
      "packages/kube/src/controller/spread.test.ts",
      "a delay of 59999 ms is not spread",
      "expected 65616.94972158782 to be 59999",
    ),
  },
  {
    name: "long delays are not spread",
    file: "packages/kube/src/controller/workqueue.ts",
    find: "this.#dueAfter(spreadMs(key, next.afterMs))",
    replace: "this.#dueAfter(next.afterMs)",
    killedBy: unit(
      QUEUE,
      "long requeues of many keys do not become due in one burst; short ones are exact",
      "expected 500 to be less than 40",
    ),
  },
  {
    name: "a field of another manager counts as a changed object",
    file: "packages/kube/src/core/errors.ts",
    find: 'error.reason !== "AlreadyExists" && !isFieldConflict(error);',
    replace: 'error.reason !== "AlreadyExists";',
    killedBy: unit(
      WORKER,
      "a field conflict is logged as an error, not silently retried as a conflict",
      "expected [ 'started', 'requeue' ] to deeply equal [ 'started', 'failed:error', 'error' ]",
    ),
  },
  {
    name: "a namespace that is being deleted counts as a refusal",
    file: "packages/kube/src/core/errors.ts",
    find: 'return !error.causes.some(({ reason }) => reason === "NamespaceTerminating");',
    replace: "return true;",
    killedBy: unit(
      "packages/kube/src/core/errors.test.ts",
      "is not a namespace that is being deleted",
      "expected true to be false",
    ),
  },
  {
    name: "a lost lease is retried like any failure",
    file: "packages/kube/src/controller/worker.ts",
    find: 'if (link instanceof NotLeaderError) return "notLeader";',
    replace: "",
    killedBy: unit(WORKER, "means notLeader", "expected 'retry' to be 'notLeader'"),
  },
  {
    name: "a terminal error is retried",
    file: "packages/kube/src/controller/worker.ts",
    find: 'queue.done(item, "onChange");',
    replace: "queue.retry(item);",
    killedBy: unit(WORKER, "a terminal error is counted, logged with its key", "expected 2 to be 1"),
  },
  {
    name: "additions to lists of one writer are ignored",
    file: "packages/kube/src/reconcile/covers.ts",
    find: "if (keys === undefined) return isEqual(is, should, mode);",
    replace:
      "if (keys === undefined) return is.length === should.length && rendered.every((_, at) => same(is[at], at));",
    killedBy: unit(COVERS, "a field of a Role's rule", "expected true to be false"),
  },
  {
    name: "selectors are merged",
    file: "packages/kube/src/reconcile/covers.ts",
    find: 'if (inner.lists === "merged" && isReplacedWhole(path)) return isEqual(live, wanted, inner);',
    replace: "",
    killedBy: unit(COVERS, "expressions of a budget's selector", "expected true to be false"),
  },
  {
    name: "what a webhook added to an immutable part is written again and again",
    file: "packages/kube/src/reconcile/covers.ts",
    find: 'mode.lists === "merged" && IMMUTABLE.has(path) ?',
    replace: 'mode.lists !== "merged" && IMMUTABLE.has(path) ?',
    killedBy: unit(COVERS, "what a webhook added to an immutable", "expected false to be true"),
  },
];
