// What is stored of an engine: its identity, which phase, which generations. Pure; absent values get their meaning here
// and nowhere else.
import type { Engine } from "./children.ts";
import type { EngineIdentity } from "./names.ts";
import { parsePhase, type StoredPhase } from "./phase.ts";
import type { Generations } from "./snapshot.ts";

export function identityOf({ metadata }: Engine): EngineIdentity {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
}

export function generationsOf({ status }: Engine): Generations {
  const current = Math.max(0, status?.currentGeneration ?? 0);
  return {
    current,
    active: Math.max(-1, status?.activeGeneration ?? -1),
    draining: status?.drainingGeneration,
    highest: Math.max(current, status?.highestGeneration ?? 0),
  };
}

/** An empty phase beside counters that have moved is not a new engine, and must not be counted from zero again. */
export function storedPhase(engine: Engine): StoredPhase {
  const phase = parsePhase(engine.status?.phase);
  const { current, active } = generationsOf(engine);
  return phase === "uninitialised" && (current > 0 || active >= 0) ? "unknown" : phase;
}
