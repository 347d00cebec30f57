// The step of one pass (docs/design/engine.md#steps): a pure function of the snapshot, one file per phase.
// compute-engine.ts completes the decision with auto-stop, warnings and a rejected write.
import type { EngineDecision } from "../../model/decision.ts";
import { restPhase } from "../../model/phase.ts";
import type { EngineSnapshot } from "../../model/snapshot.ts";
import { computeGates } from "../gates.ts";
import { advance, withVerdicts } from "../next-status.ts";
import { computeAtRest } from "./at-rest.ts";
import { computeCreating } from "./creating.ts";
import { computeCleaning, computeDraining } from "./draining.ts";
import { computeSwitching } from "./switching.ts";

export function computeStep(s: EngineSnapshot): EngineDecision {
  switch (s.phase) {
    case "uninitialised":
      return initialise(s);
    case "unknown":
      return recover(s);
    case "stable":
    case "stopped": {
      const gate = computeGates(s, s.phase);
      return gate.type === "closed" ? gate.decision : computeAtRest(s, gate);
    }
    case "creating": {
      const gate = computeGates(s, s.phase);
      return gate.type === "closed" ? gate.decision : computeCreating(s, gate);
    }
    case "switching":
      return computeSwitching(s);
    case "draining":
      return computeDraining(s);
    case "cleaning":
      return computeCleaning(s);
    default:
      return s.phase satisfies never;
  }
}

function initialise(s: EngineSnapshot): EngineDecision {
  const fresh = { ...s, generations: { current: 0, active: -1, draining: undefined, highest: 0 } };
  const message = "Waiting for the first reconcile";
  const status = withVerdicts(fresh, "creating", [{ type: "Ready", status: "False", reason: "Initializing", message }]);
  return { type: "initialise", step: "initialise", status };
}

/** A phase that some other version wrote: the counters show whether a generation serves. */
function recover(s: EngineSnapshot): EngineDecision {
  const { current, active } = s.generations;
  const phase = active >= 0 && current === active ? restPhase(s.engine.spec) : "creating";
  return { type: "move", step: "unknown-phase", status: advance(s, { phase }), ensure: {}, recheck: "requeue" };
}
