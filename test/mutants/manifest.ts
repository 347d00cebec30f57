// The pinned mutants: small, plausible mistakes in the engine's reconciler, each with the test that must fail and its
// message. A mutant that survives means that a guard is not tested; a string that is no longer found means that the
// list is out of date.
import { ENGINE_MUTANTS } from "./engine-mutants.ts";
import { explored, guarded, type Mutant } from "./mutant.ts";

export const MUTANTS: readonly Mutant[] = [
  ...ENGINE_MUTANTS,
  {
    name: "the selector moves although pods became unready",
    file: "src/engine/compute/steps/switching.ts",
    find: "if (!s.pods.allReady) {",
    replace: "if (s.pods.total < 0) {",
    killedBy: explored("rollout", "ready-before-switch"),
  },
  {
    name: "one ready pod counts as all",
    file: "src/engine/model/pod-state.ts",
    find: "(total === wanted && ready === total)",
    replace: "ready > 0",
    killedBy: explored("rollout", "ready-only-when-serving"),
  },
  {
    name: "the switch is recorded without reading the selector back",
    file: "src/engine/compute/steps/switching.ts",
    find: 'if (s.routing.type !== "live" || s.routing.target !== current) return flip(s);',
    replace: 'if (s.routing.type !== "live") return flip(s);',
    killedBy: explored("rollout", "routed-to-active-or-current"),
  },
  {
    name: "the old generation goes before it is drained",
    file: "src/engine/compute/steps/draining.ts",
    find: '(s.drainProbe.type !== "drained" || isStray(s))',
    replace: '(s.drainProbe.type === "notProbed" || isStray(s))',
    killedBy: explored("rollout", "drained-before-deleted"),
  },
  {
    name: "a required drain is skipped",
    file: "src/engine/compute/steps/switching.ts",
    find: 's.drain.required ? "draining" : "cleaning"',
    replace: '!s.drain.required ? "draining" : "cleaning"',
    killedBy: explored("rollout", "drained-before-deleted"),
  },

  {
    name: "objects are created before the intent is stored",
    file: "src/engine/compute/steps/at-rest.ts",
    find: "function bump(s: EngineSnapshot, { instanceReady }: OpenGate, cause: Cause, { rollout }: Damping): EngineDecision {",
    replace:
      "function bump(s: EngineSnapshot, { instanceReady, effective, instance }: OpenGate, cause: Cause, { rollout }: Damping): EngineDecision {\n" +
      "  const early = s.generations.highest + 1;\n" +
      "  const { statefulSet } = renderGeneration({ engine: s.identity, effective, generation: early, instance });\n" +
      '  const begun = advance(s, { phase: "creating", generations: { current: early, highest: early }, instanceReady, rollout });\n' +
      '  if (early > 0) return { type: "move", step: "pods-ready", status: begun, ensure: { statefulSet }, recheck: "requeue" };',
    killedBy: explored("rollout", "number-before-objects"),
  },
  {
    name: "a new generation starts while the old one drains",
    file: "src/engine/compute/steps/compute-step.ts",
    find: 'case "draining":\n      return computeDraining(s);',
    replace:
      'case "draining": {\n      const gate = computeGates(s, s.phase);\n' +
      '      return gate.type === "closed" ? gate.decision : computeAtRest(s, gate);\n    }',
    killedBy: explored("rollout", "only-legal-moves"),
  },

  {
    name: "readiness is looked at before the spec in creating",
    file: "src/engine/compute/steps/creating.ts",
    find: "const cause = isThere ? mismatch",
    replace: "const cause = isThere && s.pods.allReady ? mismatch",
    killedBy: explored("rollout", "configuration-of-own-generation"),
  },
  {
    name: "switching waits for the instance",
    file: "src/engine/compute/steps/compute-step.ts",
    find: 'case "switching":\n      return computeSwitching(s);',
    replace:
      'case "switching": {\n      const gate = computeGates(s, s.phase);\n' +
      '      return gate.type === "closed" ? gate.decision : computeSwitching(s);\n    }',
    killedBy: explored("rollout", "rollout-ends-without-instance"),
  },
  {
    name: "a missing routing Service is created for the generation that is not ready",
    file: "src/engine/compute/steps/creating.ts",
    find: "return astray ? routingRepair(s, active) : routingIfMissing(s, active);",
    replace: "return astray ? routingRepair(s, active) : routingIfMissing(s, current);",
    killedBy: explored("meddling", "never-routed-to-unready"),
  },
  {
    name: "a doomed generation is deleted while queries go to it",
    file: "src/engine/compute/steps/creating.ts",
    find: "...(active >= 0 && active !== current && selectsDoomed ? routingRepair(s, active) : {}),",
    replace: "",
    killedBy: explored("meddling", "serving-never-deleted"),
  },
  {
    name: "the routing Service is not repaired at rest",
    file: "src/engine/compute/steps/at-rest.ts",
    find: ", ...routingRepair(s, active) };",
    replace: " };",
    killedBy: explored("meddling", "routing-repaired-at-once"),
  },
  {
    name: "the routing Service is written whatever its version",
    file: "src/engine/compute/repair.ts",
    find: 'if (routing.type === "live") return { routing: routingTo(s, generation, { type: "live", service: routing.service }) };',
    replace:
      'if (routing.type === "live") {\n    const { resourceVersion: _, ...metadata } = routing.service.metadata ?? {};\n' +
      '    return { routing: routingTo(s, generation, { type: "live", service: { ...routing.service, metadata } }) };\n  }',
    killedBy: explored("formerLeader", "routed-to-active-or-current"),
  },
  {
    name: "a status is written over one that the pass did not start from",
    file: "src/engine/pass/status-write.ts",
    find: 'if (!isBase) return { type: "discarded" };',
    replace: "",
    killedBy: explored("formerLeader", "no-blind-overwrite"),
  },
  {
    name: "a generation is given up on the word of an old status",
    file: "src/engine/pass/apply.ts",
    find: "view === undefined || !isUnmoved(",
    replace: "view === undefined && !isUnmoved(",
    killedBy: explored("crashes", "sweep-deletes-only-orphans"),
  },
  {
    name: "a terminating StatefulSet counts as there",
    file: "src/engine/compute/mismatch.ts",
    find: 'case "terminating":\n      return {',
    replace: 'case "terminating":\n      if (child.object.metadata !== undefined) return undefined;\n      return {',
    killedBy: explored("editing", "observed-only-when-verified"),
  },
  {
    name: "the sweep forgets the serving generation",
    file: "src/engine/compute/sweep.ts",
    find: "new Set([current, active, draining, view.routingTarget])",
    replace: "new Set([current, draining, view.routingTarget])",
    killedBy: explored("rollout", "serving-never-deleted"),
  },
  {
    name: "the sweep forgets the generation that queries go to",
    file: "src/engine/compute/sweep.ts",
    find: "new Set([current, active, draining, view.routingTarget])",
    replace: "new Set([current, active, draining])",
    killedBy: guarded("keeps what is named, what queries go to and what is newer", "the sweep would delete"),
  },
  {
    name: "the sweep forgets its floor",
    file: "src/engine/compute/sweep.ts",
    find: "generation < floor &&",
    replace: "generation >= 0 &&",
    killedBy: guarded("keeps what is named, what queries go to and what is newer", "the sweep would delete"),
  },
  {
    name: "the sweep takes what belongs to others",
    file: "src/engine/compute/sweep.ts",
    find: "isOwnedBy(metadata, view.uid)",
    replace: 'view.uid !== ""',
    killedBy: guarded("leaves alone what is not the engine's", "the sweep would delete"),
  },
  {
    name: "nothing is swept",
    file: "src/engine/compute/sweep.ts",
    find: "const orphans = children.filter(isOrphan);",
    replace: "const orphans = children.filter((child) => isOrphan(child) && floor < 0);",
    killedBy: explored("crashes", "orphans-swept"),
  },
  {
    name: "the finalizer goes after a failed delete",
    file: "src/engine/pass/deletion.ts",
    find: "if (errors.length > 0)",
    replace: "if (errors.length > 99)",
    killedBy: explored("deletion", "finalizer-goes-last"),
  },
  {
    name: "deletion trusts the cache about StatefulSets",
    file: "src/engine/pass/deletion.ts",
    find: "found.push(...(CHILDREN[kind].listedOnDeletion ? await cluster.listChildren(kind, identity) : seen));",
    replace:
      "if (CHILDREN[kind].listedOnDeletion) await cluster.listChildren(kind, identity);\n      found.push(...seen);",
    killedBy: explored("deletion", "finalizer-goes-last"),
  },
  {
    name: "deletion takes what belongs to others",
    file: "src/engine/pass/deletion.ts",
    find: ".filter(({ metadata }) => isOwnedBy(metadata, uid));",
    replace: '.filter(({ metadata }) => isOwnedBy(metadata, uid) || uid !== "");',
    killedBy: explored("deletion", "foreign-objects-untouched"),
  },
  {
    name: "a stopped engine counts as stable",
    file: "src/engine/model/phase.ts",
    find: 'return spec?.replicas === 0 ? "stopped" : "stable";',
    replace: 'return spec?.replicas === -1 ? "stopped" : "stable";',
    killedBy: explored("rollout", "stopped-means-zero"),
  },
  {
    name: "the status says before the verification that the spec runs",
    file: "src/engine/compute/steps/draining.ts",
    find: "const status = advance(s, { phase: restPhase(s.engine.spec) });\n  const problem",
    replace:
      "const observedGeneration = s.engine.metadata?.generation ?? 0;\n" +
      "  const status = advance(s, { phase: restPhase(s.engine.spec), observedGeneration });\n  const problem",
    killedBy: explored("rollout", "observed-only-when-verified"),
  },
  {
    name: "the end of a rollout confirms a spec that has moved on",
    file: "src/engine/compute/steps/verified.ts",
    find: 'return next.type === "hold" && next.step === "verify" && Object.keys(next.ensure).length === 0 ? next.status : status;',
    replace:
      'return next.type === "broken" ? status : { ...status, observedGeneration: s.engine.metadata?.generation ?? 0 };',
    killedBy: explored("rollout", "observed-only-when-verified"),
  },
  {
    name: "the end of a rollout confirms the spec without instance and class",
    file: "src/engine/compute/steps/verified.ts",
    find: 'if (gate.type === "closed") return status;',
    replace:
      'if (gate.type === "closed") return { ...status, observedGeneration: s.engine.metadata?.generation ?? 0 };',
    killedBy: explored("rollout", "observed-only-when-verified"),
  },
  {
    name: "Ready is promised before queries arrive",
    file: "src/engine/compute/ready.ts",
    find: 'if (routing.type !== "live" || routing.target !== active)',
    replace: 'if (routing.type === "foreign")',
    killedBy: explored("meddling", "ready-only-when-serving"),
  },
  {
    name: "a closed gate lets objects through",
    file: "src/engine/compute/gates.ts",
    find: 'if (metadataEndpoint === undefined || metadataEndpoint === "") return',
    replace: 'if (metadataEndpoint === "") return',
    killedBy: explored("rollout", "closed-gate-changes-conditions-only"),
  },
];
