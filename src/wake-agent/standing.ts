// Where an engine stands as far as a query is concerned: a pure function of the engine and of the ready endpoints of its Service.
import type { DeepReadonly } from "@firebolt-operator/kube";
import { generationOfPod, type WatchedEngine } from "./kinds.ts";

/**
 * - `unknown`: there is no such engine, and nothing serves under its name.
 * - `away`: no query can be served; one that comes has to wait.
 * - `leaving`: queries are served, but not for long: what was true a moment ago must be asked again.
 * - `ready`: queries are served.
 */
export type Standing = "unknown" | "away" | "leaving" | "ready";

/** `readyPods` are the names of pods behind the engine's Service that are ready. */
export function standingOf(engine: DeepReadonly<WatchedEngine> | undefined, readyPods: readonly string[]): Standing {
  if (readyPods.length === 0) return engine === undefined ? "unknown" : "away";
  if (engine === undefined || engine.spec?.replicas !== 0) return "ready";
  // Asked to stop. Its Service is taken away from the pods after "switching" has been written and before anything else is: a
  // query that is let through from then on could find nobody.
  const { phase, activeGeneration } = engine.status ?? {};
  if (phase === "switching") return "away";
  const flipped = phase === "draining" || phase === "cleaning";
  // The endpoints may show the former generation for a moment longer.
  if (flipped && !readyPods.some((pod) => generationOfPod(pod) === activeGeneration)) return "away";
  return "leaving";
}

export function canServe(standing: Standing): boolean {
  return standing === "ready" || standing === "leaving";
}

/** Whether a wake request can do anything: an engine with replicas is not scaled by one, nor is one without auto-stop. */
export function isWakeable(engine: DeepReadonly<WatchedEngine> | undefined): boolean {
  return engine?.spec?.replicas === 0 && engine.status?.autoStopReason !== "Disabled";
}

/** Whether anything but an edit by its owner can start it. One that cannot be read counts as startable. */
export function isStartable(engine: DeepReadonly<WatchedEngine> | undefined): boolean {
  return engine?.spec?.replicas !== 0 || isWakeable(engine);
}
