// `switching`: point the routing Service at the current generation and, once that has been read back, record it.
// The selector and the bookkeeping move in separate passes, and only for pods that are still ready.
import { type EngineDecision, RECHECK_MS } from "../../model/decision.ts";
import { restPhase } from "../../model/phase.ts";
import type { EngineSnapshot } from "../../model/snapshot.ts";
import { advance, restProblem } from "../next-status.ts";
import { routingFlip } from "../repair.ts";
import { verified } from "./verified.ts";

export function computeSwitching(s: EngineSnapshot): EngineDecision {
  const { current, active } = s.generations;
  if (active > current)
    return {
      type: "broken",
      step: "contradiction",
      detail: `activeGeneration ${active} is ahead of currentGeneration ${current}`,
    };
  if (s.routing.type !== "live" || s.routing.target !== current) return flip(s);
  if (active >= 0 && active !== current) {
    const to = s.drain.required ? "draining" : "cleaning";
    const status = advance(s, { phase: to, generations: { active: current, draining: active }, switched: true });
    return {
      type: "move",
      step: to === "draining" ? "start-drain" : "skip-drain",
      status,
      ensure: {},
      recheck: "requeue",
    };
  }
  const status = advance(s, { phase: restPhase(s.engine.spec), generations: { active: current } });
  return (
    restProblem(status) ?? {
      type: "move",
      step: "first-rest",
      status: verified(s, status),
      ensure: {},
      recheck: "requeue",
    }
  );
}

function flip(s: EngineSnapshot): EngineDecision {
  if (!s.pods.allReady) {
    const status = advance(s, { phase: "creating" });
    return { type: "move", step: "step-back", status, ensure: {}, recheck: { afterMs: RECHECK_MS.creating } };
  }
  const ensure = routingFlip(s, s.generations.current);
  return {
    type: "hold",
    step: "switch-service",
    status: advance(s, { phase: "switching" }),
    ensure,
    recheck: "requeue",
  };
}
