// Mutants of the guarantees of a rollout for clients and for objects of other owners: settle time, switching back,
// confirmed views, creation without adoption, damping, triggers. A mutant that both a unit test and the explorer must
// kill is listed twice.
import { explored, type Mutant, unit } from "./mutant.ts";

type Change = Omit<Mutant, "killedBy">;

/** One change, and every test that must kill it. */
const noticed = (change: Change, ...tests: readonly Mutant["killedBy"][]): readonly Mutant[] =>
  tests.map((killedBy) => ({ ...change, killedBy }));

const DRAIN = "src/engine/pass/observe-drain.test.ts";
const LEADER = "src/engine/pass/new-leader.test.ts";
const DAMPING = "src/engine/compute/damping.test.ts";
const LABELS = "src/engine/pass/lost-label.test.ts";
const FAULTS = "src/engine/pass/pass-faults.test.ts";
const triggered = (profile: string): Mutant["killedBy"] => ({
  file: "test/model/engine-triggers.test.ts",
  test: `${profile}:`,
  reason: "Violation: due-pass-is-triggered:",
});

const DRAINED: readonly Mutant[] = [
  noticed(
    {
      name: "pods that fail their readiness probe are not probed",
      file: "src/engine/model/pod-state.ts",
      find: 'return status?.phase !== "Pending" &&',
      replace:
        'if (status?.conditions?.some(({ type, status: value }) => type === "Ready" && value !== "True")) return false;\n' +
        '  return status?.phase !== "Pending" &&',
    },
    explored("rollout", "drained-before-deleted"),
    unit(DRAIN, "a pod that fails its readiness probe", "cleaning"),
  ),
  noticed(
    {
      name: "pods of an unknown phase are not probed",
      file: "src/engine/model/pod-state.ts",
      find: 'return status?.phase !== "Pending" && status?.phase !== "Succeeded" && status?.phase !== "Failed";',
      replace: 'return status?.phase === "Running";',
    },
    unit(DRAIN, "a pod of a phase that is not known", "cleaning"),
  ),
  noticed(
    {
      name: "the drain trusts the cached list of pods",
      file: "src/engine/pass/observe-drain.ts",
      find: "const pods = isSure ? cached : await cluster.listPods(identity, generation);",
      replace: "const pods = isSure || cached.length >= 0 ? cached : await cluster.listPods(identity, generation);",
    },
    explored("drain", "drained-before-deleted"),
    unit(DRAIN, "a pod that is Pending in the cache", "list Pod e"),
  ),
  noticed(
    {
      name: "the settle time is ignored",
      file: "src/engine/pass/observe-drain.ts",
      find: "return settleMs === 0 ? Math.min(knownMs, nowMs)",
      replace: "return settleMs >= 0 ? Math.min(knownMs, nowMs)",
    },
    explored("settle", "no-running-query-deleted"),
    unit(DRAIN, "no probe counts before the settle time is over", "35000"),
  ),
  noticed(
    {
      name: "a probe from before the settle time counts",
      file: "src/engine/pass/observe-drain.ts",
      find: "    sinceMs,\n    // Less than",
      replace: "    sinceMs: 0,\n    // Less than",
    },
    explored("settle", "no-running-query-deleted"),
    unit(DRAIN, "only a probe that began after the settle time counts", "AssertionError"),
  ),
  noticed(
    {
      name: "a stray Service does not start the settle time again",
      file: "src/engine/compute/steps/draining.ts",
      find: "...(isStray(s) && { switched: true }),",
      replace: "...(s.nowMs < 0 && { switched: true }),",
    },
    explored("settle", "no-running-query-deleted"),
    unit(DRAIN, "a routing Service that strays", "AssertionError"),
  ),
  noticed(
    {
      name: "cleaning goes by the cached routing Service",
      file: "src/engine/pass/observe.ts",
      find: 'const mustRead = phase === "cleaning" || (cached === undefined && !isFirst);',
      replace: "const mustRead = cached === undefined && !isFirst;",
    },
    explored("routing", "serving-never-deleted"),
    unit(DRAIN, "a Service that the cache shows at the new generation", "stable"),
  ),
  noticed(
    {
      name: "cleaning takes the absence of a StatefulSet from the cache",
      file: "src/engine/pass/observe.ts",
      find: '() => phase === "draining" || phase === "cleaning");',
      replace: '() => phase === "draining");',
    },
    explored("strangers", "every-edit-runs"),
    unit(DRAIN, "a set that lost its label is deleted with its generation", "AssertionError"),
  ),
  noticed(
    {
      name: "pods without a StatefulSet are left",
      file: "src/engine/compute/repair.ts",
      find: '[{ kind: "Pod" as const, name, uid }],',
      replace: "[],",
    },
    explored("editing", "every-edit-runs"),
    unit(DRAIN, "pods that lost their StatefulSet are probed", "AssertionError"),
  ),
  noticed(
    {
      name: "pods without a StatefulSet are left where another owner has one of its name",
      file: "src/engine/pass/observe-drain.ts",
      find: 'if (statefulSet.type === "live" || statefulSet.type === "terminating") return [];',
      replace: 'if (statefulSet.type !== "absent") return [];',
    },
    unit(DRAIN, "pods that lost their StatefulSet go, though another owner", "AssertionError"),
  ),
  noticed(
    {
      name: "a pod that does not respond counts as idle",
      file: "src/engine/probe/scrape-outcome.ts",
      find: "return { queries, responded: hasResponded(error) };",
      replace: 'return { queries: queries && { type: "idle" }, responded: hasResponded(error) };',
    },
    explored("rollout", "drained-before-deleted"),
    unit(
      "src/engine/probe/scrape-outcome.test.ts",
      "drain-with-silent-pod: a pod that does not respond",
      "AssertionError",
    ),
  ),
  noticed(
    {
      name: "a missing gauge counts as zero",
      file: "src/engine/probe/scrape-outcome.ts",
      find: 'return { type: "failing", cause: missingGaugesText(metrics.gauges) };',
      replace: 'return { type: "idle" };',
    },
    explored("rollout", "drained-before-deleted"),
    unit("src/engine/probe/scrape-outcome.test.ts", "drain-with-silent-pod: a gauge that is missing", "AssertionError"),
  ),
].flat();

const SWITCHED_BACK: readonly Mutant[] = [
  noticed(
    {
      name: "a generation is switched back to with pods that are not ready",
      file: "src/engine/compute/steps/draining.ts",
      find: "s.draining === undefined || !s.drainingPods.allReady || s.drainingPods.wanted === 0)",
      replace: "s.draining === undefined || s.drainingPods.wanted === 0)",
    },
    explored("rollout", "routed-to-active-or-current"),
    unit("src/engine/compute/steps/draining.test.ts", "not when one of its pods is not ready", "switch-back"),
  ),
  noticed(
    {
      name: "a generation is switched back from although the spec asks for it",
      file: "src/engine/compute/steps/draining.ts",
      find: "if (differs(s.draining) || !differs(s.current)) return undefined;",
      replace: "if (differs(s.draining)) return undefined;",
    },
    unit(
      "src/engine/compute/steps/draining.test.ts",
      "not when the serving one is what the spec asks for",
      "switch-back",
    ),
  ),
  noticed(
    {
      name: "a generation is switched back to that the spec does not ask for",
      file: "src/engine/compute/steps/draining.ts",
      find: "if (differs(s.draining) || !differs(s.current)) return undefined;",
      replace: "if (!differs(s.current)) return undefined;",
    },
    explored("rollout", "routed-to-active-or-current"),
    unit("src/engine/compute/steps/draining.test.ts", "not when the spec asks for something else", "switch-back"),
  ),
  noticed(
    {
      name: "the number of a generation that was switched back from is used again",
      file: "src/engine/compute/next-status.ts",
      find: "...(highest > current ? { highestGeneration: highest } : {}),",
      replace: "...(highest > current && drains ? { highestGeneration: highest } : {}),",
    },
    explored("rollout", "numbers-never-reused"),
    unit("src/engine/pass/pass.test.ts", "the number of a generation that was switched back from", "AssertionError"),
  ),
].flat();

const CONFIRMED: readonly Mutant[] = [
  noticed(
    {
      name: "the routing Service is moved by a status that is no longer stored",
      file: "src/engine/pass/apply.ts",
      find: "const isSure = generations.active < 0 ||",
      replace: "const isSure = generations.active >= -1 ||",
    },
    explored("newLeader", "routed-to-active-or-current"),
    unit(LEADER, "queries are not sent back to a generation that drains", "AssertionError"),
  ),
  noticed(
    {
      name: "the switch is made by a status that another process stored",
      file: "src/engine/pass/apply.ts",
      find: "(isForward && cluster.wroteLast(snapshot.engine))",
      replace: "isForward",
    },
    explored("newLeader", "routed-to-active-or-current"),
    unit(LEADER, "queries are not sent forward to a generation that was given up", "AssertionError"),
  ),
  noticed(
    {
      name: "a generation is deleted by a status that is no longer stored",
      file: "src/engine/pass/apply.ts",
      find: "(cluster.wroteLast(snapshot.engine) ? undefined : await movedOn(snapshot, cluster))",
      replace: "undefined",
    },
    explored("newLeader", "draining-kept-until-cleaning"),
    unit(LEADER, "nothing is deleted by a status of a finished drain", "AssertionError"),
  ),
  noticed(
    {
      name: "a generation is abandoned for an edit that was reverted",
      file: "src/engine/pass/apply.ts",
      find: "view.specGeneration === engine.metadata?.generation &&",
      replace: "engine.metadata !== undefined &&",
    },
    explored("newLeader", "wanted-never-abandoned"),
    unit(LEADER, "a generation that matches the stored spec is not abandoned", "AssertionError"),
  ),
  noticed(
    {
      name: "the sweep acts on the cached view",
      file: "src/engine/pass/sweep.ts",
      find: "view = await confirmView(cluster, identity);",
      replace: "view = cached;",
    },
    explored("routing", "serving-never-deleted"),
    unit("src/engine/pass/sweep.test.ts", "the confirmed view decides", "AssertionError"),
  ),
  noticed(
    {
      name: "a StatefulSet that only the cache misses is replaced",
      file: "src/engine/pass/observe.ts",
      find: 'return isAtRest(phase) || phase === "switching" ||',
      replace: 'return phase === "switching" ||',
    },
    explored("staleness", "wanted-never-replaced"),
    unit(FAULTS, "stateful-set-deleted", "AssertionError"),
  ),
  noticed(
    {
      name: "the sweep takes the draining generation",
      file: "src/engine/compute/sweep.ts",
      find: "new Set([current, active, draining, view.routingTarget])",
      replace: "new Set([current, active, view.routingTarget])",
    },
    explored("rollout", "draining-kept-until-cleaning"),
    unit("src/engine/compute/sweep.test.ts", "kept because it is", "AssertionError"),
  ),
  noticed(
    {
      name: "cleaning leaves the draining generation in the status",
      file: "src/engine/compute/next-status.ts",
      find: 'const drains = (phase === "draining" || phase === "cleaning") && draining !== undefined;',
      replace: "const drains = draining !== undefined;",
    },
    explored("rollout", "one-generation-at-rest"),
    unit(
      "src/engine/compute/steps/draining.test.ts",
      "cleaning comes to rest without a draining generation",
      "drainingGeneration",
    ),
  ),
].flat();

const BUILT: readonly Mutant[] = [
  noticed(
    {
      name: "creating goes on with pods that are not ready",
      file: "src/engine/compute/steps/creating.ts",
      find: "if (isThere && s.pods.allReady)",
      replace: "if (isThere)",
    },
    unit("src/engine/compute/steps/creating.test.ts", "await-pods: waits for pods", "pods-ready"),
  ),
  noticed(
    {
      name: "creating goes on without a StatefulSet",
      file: "src/engine/compute/steps/creating.ts",
      find: "if (isThere && s.pods.allReady)",
      replace:
        "if (!isThere && s.engine.spec?.replicas === 0)\n" +
        '    return { type: "move", step: "pods-ready", status: advance(s, { phase: "switching", instanceReady, rollout }), ensure: {}, recheck: "requeue" };\n' +
        "  if (isThere && s.pods.allReady)",
    },
    explored("rollout", "bumps-are-finite"),
    unit("src/engine/pass/pass.test.ts", "created-with-zero-replicas", "not at rest"),
  ),
  noticed(
    {
      name: "objects are applied where none was seen",
      file: "src/engine/pass/apply.ts",
      find: "if (!exists)\n    return created(kind",
      replace: 'if (!exists && (kind !== "ConfigMap" || object.metadata === undefined))\n    return created(kind',
    },
    explored("strangers", "foreign-objects-untouched"),
    unit(FAULTS, "same-name-again", "AssertionError"),
  ),
  noticed(
    {
      name: "an own object without its label is created again for ever",
      file: "src/engine/pass/apply.ts",
      find: "const isHidden = found !== undefined &&",
      replace: "const isHidden = found === undefined && object !== undefined &&",
    },
    explored("strangers", "bumps-are-finite"),
    unit(LABELS, "at rest a", "AssertionError"),
  ),
  noticed(
    {
      name: "an object without its label outlives a generation that is given up",
      file: "src/engine/pass/observe.ts",
      find: 'const mayBeGivenUp = phase === "creating" && isThere;',
      replace: 'const mayBeGivenUp = phase === "unknown" && isThere;',
    },
    explored("strangers", "every-edit-runs"),
    unit(LABELS, "is deleted with the generation that is abandoned", "AssertionError"),
  ),
  noticed(
    {
      name: "the routing Service is repaired after the new generation is built",
      file: "src/engine/pass/apply.ts",
      find: "const serves = snapshot.generations.active >= 0;",
      replace: "const serves = snapshot.generations.active >= 1_000;",
    },
    explored("strangers", "routing-repaired-at-once"),
    unit(
      "src/engine/pass/rejected-child.test.ts",
      "restored while a new generation cannot be written",
      "AssertionError",
    ),
  ),
  noticed(
    {
      name: "a status that could not be written is written again",
      file: "src/engine/pass/pass.ts",
      find: "await applyStatus(last.decision, last.snapshot, cluster);\n",
      replace:
        'await (last.decision.type === "hold" ? orShowFailure(io, engine, { status: last.decision.status, isNew: true }, () => applyStatus(last.decision, last.snapshot, cluster)) : applyStatus(last.decision, last.snapshot, cluster));\n',
    },
    explored("crashes", "one-status-write"),
    unit(FAULTS, "a status that could not be written is not followed by another", "AssertionError"),
  ),
].flat();

const DAMPED: readonly Mutant[] = [
  noticed(
    {
      name: "generations that nothing explains wait equally long",
      file: "src/engine/compute/damping.ts",
      find: "FIRST_WAIT_MS * 2 ** attempts",
      replace: "FIRST_WAIT_MS",
    },
    explored("editing", "unexplained-rollouts-wait"),
    unit(DAMPING, "waits a second, and each one after it twice as long", "AssertionError"),
  ),
  noticed(
    {
      name: "generations that nothing explains do not wait",
      file: "src/engine/compute/damping.ts",
      find: "if (s.nowMs >= dueMs)",
      replace: "if (s.nowMs >= 0)",
    },
    explored("editing", "unexplained-rollouts-wait"),
    unit(DAMPING, "while it waits nothing is created", "AssertionError"),
  ),
  noticed(
    {
      name: "foreign edits are never forgotten",
      file: "src/engine/compute/damping.ts",
      find: "s.nowMs - createdMs >= FORGET_MS",
      replace: "s.nowMs - createdMs >= 1_000 * FORGET_MS",
    },
    explored("editing", "spec-edits-never-wait"),
    unit(DAMPING, "edits are forgotten", "AssertionError"),
  ),
  noticed(
    {
      name: "changes of the spec wait too",
      file: "src/engine/compute/damping.ts",
      find: "if (isExplained(s, rolloutHash, wanted))",
      replace: "if (s.nowMs < 0 && isExplained(s, rolloutHash, wanted))",
    },
    explored("rollout", "spec-edits-never-wait"),
    unit(DAMPING, "a change of the spec starts at once", "AssertionError"),
  ),
  noticed(
    {
      name: "after a crash the hash of the rollout is that of an older spec",
      file: "src/engine/compute/steps/creating.ts",
      find: "const rollout = { rolloutHash, heldRollout: isThere",
      replace: "const rollout = { ...(isThere ? {} : { rolloutHash }), heldRollout: isThere",
    },
    unit(FAULTS, "after a crash the hash of the rollout follows", "AssertionError"),
  ),
  noticed(
    {
      name: "a query that meets a stop is ignored while the old generation drains",
      file: "src/engine/auto-stop/auto-stop.ts",
      find: 'decision.step === "drain-wait")',
      replace: 'decision.step === "drain-wait" && snapshot.nowMs < 0)',
    },
    unit("src/engine/pass/hand-over.test.ts", "switches back to the draining generation", "expected +0 to be 2"),
  ),
].flat();

const TRIGGERED: readonly Mutant[] = [
  noticed(
    {
      name: "the deletion of an object of the current generation triggers no reconcile",
      file: "src/engine/cluster/triggers.ts",
      find: "generation <= highest && generation !== current && generation !== active && generation !== draining;",
      replace: "generation <= highest && generation !== active && generation !== draining;",
    },
    triggered("editing"),
  ),
  noticed(
    {
      name: "the deletion of an object of the serving generation triggers no reconcile",
      file: "src/engine/cluster/triggers.ts",
      find: "generation <= highest && generation !== current && generation !== active && generation !== draining;",
      replace: "generation <= highest && generation !== draining;",
    },
    triggered("meddling"),
  ),
  noticed(
    {
      name: "a pod that becomes ready triggers no reconcile",
      file: "src/engine/model/child-triggers.ts",
      find: 'status.conditions?.find(({ type }) => type === "Ready")?.status,',
      replace: "",
    },
    triggered("rollout"),
  ),
  noticed(
    {
      name: "foreign changes of Services and ConfigMaps trigger no reconcile",
      file: "src/engine/model/child-triggers.ts",
      find: 'return event.origin !== "write";',
      replace: 'return event.origin !== "watch";',
    },
    triggered("meddling"),
  ),
  noticed(
    {
      name: "a new StatefulSet without replicas triggers no reconcile",
      file: "src/engine/model/child-triggers.ts",
      find: 'event.origin === "write" && event.object.spec?.replicas !== 0) return false;',
      replace: 'event.origin === "write") return false;',
    },
    unit("src/engine/cluster/triggers.test.ts", "a write of a pass triggers no other", "AssertionError"),
  ),
  noticed(
    {
      name: "an edited StatefulSet triggers no reconcile",
      file: "src/engine/model/child-triggers.ts",
      find: "metadata?.uid,\n    metadata?.generation,",
      replace: "metadata?.uid,",
    },
    triggered("editing"),
  ),
  noticed(
    {
      name: "an instance that loses its endpoint triggers no reconcile",
      file: "src/engine/cluster/triggers.ts",
      find: "instance.status?.metadataEndpoint,",
      replace: "",
    },
    triggered("rollout"),
  ),
  noticed(
    {
      name: "an edited class triggers no reconcile",
      file: "src/engine/cluster/triggers.ts",
      find: "[metadata?.uid, metadata?.generation, ready?.status, ready?.reason, ready?.message]",
      replace: "[metadata?.uid, ready?.status, ready?.reason, ready?.message]",
    },
    triggered("rollout"),
  ),
  noticed(
    {
      name: "a wake request triggers no reconcile",
      file: "src/engine/cluster/triggers.ts",
      find: "    metadata?.annotations,\n    metadata?.labels,\n    metadata?.finalizers,",
      replace: "    metadata?.labels,\n    metadata?.finalizers,",
    },
    triggered("autoStop"),
  ),
].flat();

export const ENGINE_MUTANTS: readonly Mutant[] = [
  ...DRAINED,
  ...SWITCHED_BACK,
  ...CONFIRMED,
  ...BUILT,
  ...DAMPED,
  ...TRIGGERED,
];
