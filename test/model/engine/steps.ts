// Names the step (docs/design/engine.md#steps) that a pass took, from what it saw and did. Only for counting: an
// exploration that never takes a step proves nothing about it.
import type { EngineStep } from "../../design/step-names.ts";
import { countersOf, isBeingDeleted, isGatedPhase, isGateOpen, isRest } from "./facts.ts";
import type { PassRecord } from "./run-pass.ts";

/** Everything but the steps that only a damaged status leads to. */
export const STEPS_TO_TAKE: readonly EngineStep[] = [
  "delete-engine",
  "initialise",
  "class-gate",
  "instance-gate",
  "bump",
  "verify",
  "build",
  "abandon",
  "await-pods",
  "pods-ready",
  "step-back",
  "switch-service",
  "start-drain",
  "skip-drain",
  "first-rest",
  "drain-wait",
  "drained",
  "delete-rejected",
  "clean",
  "switch-back",
  "drain-again",
  "damped",
  "object-rejected",
  "auto-stop-scale",
];

/** What follows `switching`, by the phase that it leads to. */
const SWITCHED: Readonly<Record<string, EngineStep>> = {
  creating: "step-back",
  draining: "start-drain",
  cleaning: "skip-drain",
};

/** Undefined where there is no engine. */
export function stepOf(pass: PassRecord): EngineStep | undefined {
  const { seen, calls } = pass;
  const from = countersOf(seen.engine?.status);
  const status = calls.find(({ request }) => request.type === "status")?.request;
  const to = status?.type === "status" ? countersOf(status.status) : from;
  const does = (type: string) => calls.some(({ request }) => request.type === type);
  if (seen.engine === undefined) return undefined;
  if (isBeingDeleted(seen)) return "delete-engine";
  if (from.phase === "") return does("status") ? "initialise" : "add-finalizer";
  if (isGatedPhase(from.phase) && !isGateOpen(seen))
    return seen.engineClass === undefined ? "class-gate" : "instance-gate";
  const reason =
    status?.type === "status" ? status.status.conditions?.find(({ type }) => type === "Ready")?.reason : "";
  if (reason === "NameInUse" || reason === "ObjectRejected") return "object-rejected";
  if (does("scale")) return "auto-stop-scale";
  if (status?.type === "status" && status.status.heldRollout?.until !== undefined) return "damped";
  if (isRest(from.phase)) return to.phase === "creating" ? "bump" : "verify";
  switch (from.phase) {
    case "creating":
      if (to.current > from.current) return "abandon";
      if (to.phase === "switching") return "pods-ready";
      return does("create") ? "build" : "await-pods";
    case "switching":
      if (does("route")) return "switch-service";
      return SWITCHED[to.phase] ?? "first-rest";
    case "draining":
      if (to.current !== from.current) return "switch-back";
      return to.phase === "cleaning" ? "drained" : "drain-wait";
    default:
      if (to.phase === "draining") return "drain-again";
      return isRest(to.phase) ? "clean" : "delete-rejected";
  }
}
