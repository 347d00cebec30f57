// The phases of an engine and the moves between them: documentation, the guard of apply, and the oracle of the model
// test. When a move is due is not decided here; src/engine/compute does.
import { ENGINE_PHASES, type EnginePhase } from "../../api/phases.ts";

export type { EnginePhase } from "../../api/phases.ts";

/** The phases in which an engine is at rest. */
export type RestPhase = Extract<EnginePhase, "stable" | "stopped">;

/** The stored phase, parsed at the edge: not set yet, a phase, or an unknown value. */
export type StoredPhase = EnginePhase | "uninitialised" | "unknown";

/** Staying in a phase is always legal; everything else is listed. */
export const MOVES = {
  uninitialised: ["creating"],
  unknown: ["creating", "stable", "stopped"],
  creating: ["switching"],
  switching: ["draining", "cleaning", "stable", "stopped", "creating"],
  draining: ["cleaning", "stable", "stopped"],
  // Back to draining when queries turn out to go to the generation that was to be deleted.
  cleaning: ["stable", "stopped", "draining"],
  stable: ["creating", "stopped"],
  stopped: ["creating", "stable"],
} as const satisfies Record<StoredPhase, readonly EnginePhase[]>;

export function isLegalMove(from: StoredPhase, to: EnginePhase): boolean {
  const moves: readonly EnginePhase[] = MOVES[from];
  return from === to || moves.includes(to);
}

export function parsePhase(text: string | undefined): StoredPhase {
  if (text === undefined || text === "") return "uninitialised";
  return ENGINE_PHASES.find((phase) => phase === text) ?? "unknown";
}

/**
 * The only place that distinguishes the two resting phases. An engine without a spec is not stopped: zero was not
 * requested.
 */
export function restPhase(spec: { readonly replicas?: number } | undefined): RestPhase {
  return spec?.replicas === 0 ? "stopped" : "stable";
}

export function isAtRest(phase: StoredPhase): phase is RestPhase {
  return phase === "stable" || phase === "stopped";
}

/** The phases that may write configuration made from instance and class: nothing else waits for them. */
export function isGated(phase: StoredPhase): phase is RestPhase | "creating" {
  return isAtRest(phase) || phase === "creating";
}
