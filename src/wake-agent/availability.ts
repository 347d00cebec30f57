// Whether an engine can serve a query: a pure function of the engine and of the ready endpoints of its Service.
import type { DeepReadonly } from "@firebolt-operator/kube";
import { generationOfPod, type WatchedEngine } from "./kinds.ts";

/**
 * - `unknown`: there is no such engine, and no endpoint under its name.
 * - `unavailable`: no query can be served; a new one has to wait.
 * - `stopping`: queries are served, but not for long: the state must be checked again for the next one.
 * - `ready`: queries are served.
 */
export type Availability = "unknown" | "unavailable" | "stopping" | "ready";

/** `readyPods` are the names of the ready pods behind the engine's Service. */
export function availabilityOf(
  engine: DeepReadonly<WatchedEngine> | undefined,
  readyPods: readonly string[],
): Availability {
  if (readyPods.length === 0) return engine === undefined ? "unknown" : "unavailable";
  if (engine === undefined || engine.spec?.replicas !== 0) return "ready";
  // The operator writes `switching` first, and then points the Service away from these pods: a query that passes from
  // then on could find no endpoint.
  const { phase, activeGeneration } = engine.status ?? {};
  if (phase === "switching") return "unavailable";
  const flipped = phase === "draining" || phase === "cleaning";
  // The endpoints may show the superseded generation for a moment longer.
  if (flipped && !readyPods.some((pod) => generationOfPod(pod) === activeGeneration)) return "unavailable";
  return "stopping";
}

export function canServe(availability: Availability): boolean {
  return availability === "ready" || availability === "stopping";
}

/** Whether a wake request has an effect: an engine with replicas is not scaled by one, nor is one without auto-stop. */
export function isWakeable(engine: DeepReadonly<WatchedEngine> | undefined): boolean {
  return engine?.spec?.replicas === 0 && engine.status?.autoStopReason !== "Disabled";
}

/** Whether anything but an edit of its spec can start it. An engine that cannot be read counts as startable. */
export function isStartable(engine: DeepReadonly<WatchedEngine> | undefined): boolean {
  return engine?.spec?.replicas !== 0 || isWakeable(engine);
}
