// `draining` and `cleaning`: let the old generation finish its queries, then delete it (T16–T20). Keeps traffic on the active
// generation meanwhile; looks at nothing of the spec but the drain settings and the resting phase.
import type { EngineDecision } from "../decision.ts";
import { restPhase } from "../phase.ts";
import type { EngineSnapshot } from "../snapshot.ts";
import { advance, restProblem } from "./next-status.ts";
import { removalsOf, routingRepair } from "./repair.ts";
import { verified } from "./verified.ts";

export function computeDraining(s: EngineSnapshot): EngineDecision {
  const ahead = nothingToDrain(s) ?? misplaced(s);
  if (ahead !== undefined) return ahead;
  const ensure = routingRepair(s, s.generations.active);
  // Not knowing is not zero: only a probe that found every pod idle, or nobody asking for one, lets the generation go.
  if (s.drain.required && s.drainProbe.type !== "drained") {
    const recheck = { afterMs: s.drain.intervalMs };
    return { type: "hold", row: "T17", status: advance(s, { phase: "draining" }), ensure, recheck };
  }
  return { type: "move", row: "T18", status: advance(s, { phase: "cleaning" }), ensure, recheck: "now" };
}

export function computeCleaning(s: EngineSnapshot): EngineDecision {
  const ahead = nothingToDrain(s) ?? misplaced(s);
  if (ahead !== undefined) return ahead;
  const status = advance(s, { phase: restPhase(s.engine.spec) });
  const problem = restProblem(status);
  if (problem !== undefined) return problem;
  const remove = s.draining === undefined ? [] : removalsOf(s.draining, "any version");
  const ensure = routingRepair(s, s.generations.active);
  return { type: "clean", row: "T20", status: verified(s, status), ensure, remove };
}

function nothingToDrain(s: EngineSnapshot): EngineDecision | undefined {
  if (s.generations.draining !== undefined) return undefined;
  const status = advance(s, { phase: restPhase(s.engine.spec) });
  return restProblem(status) ?? { type: "move", row: "T16", status, ensure: {}, recheck: "now" };
}

/** Deleting by a status that contradicts itself could hit the serving generation. */
function misplaced({ phase, generations: { current, active, draining } }: EngineSnapshot): EngineDecision | undefined {
  if (draining !== undefined && draining < current && current === active) return undefined;
  const detail = `${phase} with currentGeneration ${current}, activeGeneration ${active}, drainingGeneration ${draining}`;
  return { type: "broken", row: "§1.13", detail };
}
