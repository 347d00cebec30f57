// The pinned mutants of auto-stop, drift, triggers and engine classes: decisions that the explorer does not make,
// killed by the unit tests beside them.
import { type Mutant, unit } from "./mutant.ts";

const DECIDE = "src/engine/auto-stop/decide.test.ts";
const DRIFT = "src/engine/drift/find-drift.test.ts";
const TRIGGERS = "src/engine/cluster/triggers.test.ts";
const CLASS = "src/engineclass/engineclass.test.ts";

export const FEATURE_MUTANTS: readonly Mutant[] = [
  {
    name: "auto-stop takes a failed scrape for a quiet engine",
    file: "src/engine/auto-stop/decide.ts",
    find: 'if (activity.type !== "read") return',
    replace: 'if (activity.type === "notProbed") return',
    killedBy: unit(
      DECIDE,
      "rank 5: a failed scrape is activity",
      "expected { rank: 8, reason: 'Idle', …(2) } to match object { rank: 5, …(3) }",
    ),
  },
  {
    name: "auto-stop stops before the idle time is over",
    file: "src/engine/auto-stop/decide.ts",
    find: "nowMs - lastActivityMs >= idleTimeoutMs &&",
    replace: "nowMs - lastActivityMs >= 0 &&",
    killedBy: unit(
      DECIDE,
      "rank 9: not idle for long enough",
      "expected { rank: 8, reason: 'Idle', …(2) } to match object { rank: 9, …(2) }",
    ),
  },
  {
    name: "a wake request changes a number of replicas that somebody chose",
    file: "src/engine/auto-stop/decide.ts",
    find: " && (replicas === 0 || replicas === activeReplicas))",
    replace: ")",
    killedBy: unit(
      DECIDE,
      "policy-off-never-scales, scaled-only-to-configured-numbers, stopped-only-when-quiet, wake-only-fresh-from-zero, full-timeout-after-start: whatever is seen, replicas change only as promised",
      "Property failed after",
    ),
  },
  {
    name: "auto-stop raises an engine to its idle number",
    file: "src/engine/auto-stop/decide.ts",
    find: " && replicas > idleReplicas)",
    replace: ")",
    killedBy: unit(
      DECIDE,
      "rank 9: idle at the idle number",
      "expected { rank: 8, reason: 'Idle', …(2) } to match object { rank: 9, replicas: 1 }",
    ),
  },
  {
    name: "a wake stamp far in the future keeps an engine up",
    file: "src/engine/auto-stop/wake-stamp.ts",
    find: "return ageMs < WAKE_FRESH_MS && ageMs >= -WAKE_AHEAD_MS;",
    replace: "return ageMs < WAKE_FRESH_MS;",
    killedBy: unit(
      "src/engine/auto-stop/wake-stamp.test.ts",
      "stamp-not-fresh: an hour ahead",
      "expected true to be false",
    ),
  },
  {
    name: "demand wakes an engine that was already woken for it",
    file: "src/engine/auto-stop/wake-request.ts",
    find: "return isServed(stampMs, sources) ? undefined :",
    replace: "return stampMs < 0 ? undefined :",
    killedBy: unit(
      "src/engine/auto-stop/auto-stop.test.ts",
      "demand that an engine was woken for does not wake it again",
      "expected [ 2, 'ActivityObserved' ] to deeply equal [ +0, 'Stopped' ]",
    ),
  },
  {
    name: "a wake stamp undoes the stop that followed it",
    file: "src/engine/auto-stop/auto-stop.ts",
    find: "return engine.spec?.replicas === 0 && isOn && !isKnown",
    replace: "return engine.spec?.replicas === 0 && !isOn && !isKnown",
    killedBy: unit(
      "src/engine/auto-stop/auto-stop.test.ts",
      "a stop by a person stands",
      "expected [ 2, 'ActivityObserved' ] to deeply equal [ +0, 'Stopped' ]",
    ),
  },
  {
    name: "a window past midnight belongs to the next day",
    file: "src/engine/auto-stop/schedule.ts",
    find: "isOn(days, modulo(day - 1, DAYS_PER_WEEK))",
    replace: "isOn(days, day)",
    killedBy: unit(
      "src/engine/auto-stop/schedule.test.ts",
      "window-across-midnight: Wed 01:00",
      "expected true to be false",
    ),
  },
  {
    name: "the policies of engine and class are merged",
    file: "src/engine/auto-stop/policy.ts",
    find: "const block = ofEngine ?? ofClass;",
    replace: "const block = ofEngine?.enabled === true ? ofEngine : ofClass;",
    killedBy: unit(
      "src/engine/auto-stop/policy.test.ts",
      "the engine's block counts as a whole",
      "expected { activeReplicas: 2, …(4) } to be undefined",
    ),
  },
  {
    name: "the fingerprint hides edited annotations",
    file: "src/engine/drift/find-drift.ts",
    find: "if (annotations === undefined && isUntouchedRendering(live, wanted)) return undefined;",
    replace: "if (isUntouchedRendering(live, wanted)) return undefined;",
    killedBy: unit(
      DRIFT,
      "annotations are compared all the same",
      "expected undefined to be 'metadata.annotations[firebolt.io/engi…'",
    ),
  },
  {
    name: "the fingerprint hides edits of the live StatefulSet",
    file: "packages/kube/src/reconcile/rendered-hash.ts",
    find: "live.metadata?.generation === NEVER_CHANGED",
    replace: "live.metadata?.generation !== 0",
    killedBy: unit(
      DRIFT,
      "an edited one, one of another rendering and one without fingerprint are compared",
      "expected undefined to be 'spec.template.spec.tolerations'",
    ),
  },
  {
    name: "any DNS policy that is set counts as the default",
    file: "src/engine/drift/find-drift.ts",
    find: "&& dnsPolicy === undefined && DEFAULT_DNS_POLICIES",
    replace: "&& DEFAULT_DNS_POLICIES",
    killedBy: unit(
      DRIFT,
      "an unset DNS policy accepts what means the same, a set one does not",
      "expected undefined to be 'spec.template.spec.dnsPolicy'",
    ),
  },
  {
    name: "labels of the StatefulSet are not compared",
    file: "src/engine/drift/find-drift.ts",
    find: "if (labels !== undefined) return labels;",
    replace: "",
    killedBy: unit(DRIFT, "labels of the set itself", ".toMatch() expects to receive a string, but got undefined"),
  },
  {
    name: "values of variables end up in events",
    file: "src/engine/drift/shown-values.ts",
    find: "return SHOWN.test(path) ? difference",
    replace: 'return path !== "" ? difference',
    killedBy: unit(DRIFT, "values of variables are hidden, long ones are cut", '-   "live": "(hidden)"'),
  },
  {
    name: "a pod that becomes ready triggers no reconcile",
    file: "src/engine/model/child-triggers.ts",
    find: 'status.conditions?.find(({ type }) => type === "Ready")?.status,',
    replace: "",
    killedBy: unit(TRIGGERS, "a pod event by readiness", "expected [] to have a length of 1 but got +0"),
  },
  {
    name: "an edit of a live StatefulSet triggers no reconcile",
    file: "src/engine/model/child-triggers.ts",
    find: "metadata?.uid,\n    metadata?.generation,\n    metadata?.labels,",
    replace: "metadata?.uid,\n    metadata?.labels,",
    killedBy: unit(TRIGGERS, "a StatefulSet event by its spec", "expected [] to have a length of 1 but got +0"),
  },
  {
    name: "an endpoint of the metadata service that changes triggers no reconcile",
    file: "src/engine/cluster/triggers.ts",
    find: "instance.status?.metadataEndpoint,\n",
    replace: "",
    killedBy: unit(
      TRIGGERS,
      "created-before-instance: an instance event by endpoint reaches its engines",
      "expected [] to have a length of 1 but got +0",
    ),
  },
  {
    name: "the deletion of the serving generation triggers no reconcile",
    file: "src/engine/cluster/triggers.ts",
    find: "generation !== current && generation !== active && generation !== draining",
    replace: "generation !== current && generation !== draining",
    killedBy: unit(TRIGGERS, "a deleted child: … that still serves", "expected [] to have a length of 1 but got +0"),
  },
  {
    name: "a child that loses its label triggers no reconcile",
    file: "src/engine/cluster/triggers.ts",
    find: "[event.object, event.previous].flatMap(",
    replace: "[event.object].flatMap(",
    killedBy: unit(
      TRIGGERS,
      "children concern the engine they are labelled with, before and after",
      "expected [ { namespace: 'ns', name: 'e' } ] to deeply equal [ Array(2) ]",
    ),
  },
  {
    name: "a class is released on the word of the cache",
    file: "src/engineclass/pass.ts",
    find: "deleting ? await cluster.countEnginesDirectly(key) : cluster.countEngines(key)",
    replace: "cluster.countEngines(key)",
    killedBy: unit(
      CLASS,
      "bound-class-never-released: the cache may show zero; only the API server's count releases",
      "expected 'onChange' to deeply equal { afterMs: 30000 }",
    ),
  },
  {
    name: "a class is released while one engine names it",
    file: "src/engineclass/compute.ts",
    find: "s.boundEngines === 0 ?",
    replace: "s.boundEngines <= 1 ?",
    killedBy: unit(
      CLASS,
      "bound-class-deleted: deleting while engines name it is blocked",
      "expected { type: 'release' } to match object { type: 'block', …(1) }",
    ),
  },
  {
    name: "an engine that leaves a class is not counted out",
    file: "src/engineclass/controller.ts",
    find: "[...new Set([before, now])].flatMap(",
    replace: "[...new Set([now])].flatMap(",
    killedBy: unit(
      CLASS,
      "bound-count-converges, engine-changes-class: an engine that moves from A to B recounts both",
      "expected [ { namespace: 'ns', name: 'b' } ] to deeply equal [ Array(2) ]",
    ),
  },
  {
    name: "the status writes of a class start the next pass",
    file: "src/engineclass/controller.ts",
    find: "read(object.metadata) === read(previous.metadata)) return [];",
    replace: "object === previous) return [];",
    killedBy: unit(
      CLASS,
      "the controller's own status writes trigger no reconcile",
      "expected [ { namespace: 'ns', name: 'c' } ] to deeply equal []",
    ),
  },
];
