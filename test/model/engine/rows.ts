// Names the row of behaviour §1.4 that a pass took, from what it saw and did. Only for counting: an exploration that never takes a
// row proves nothing about it.
import { countersOf, isBeingDeleted, isGatedPhase, isGateOpen, isRest } from "./facts.ts";
import type { PassRecord } from "./run-pass.ts";

/** Everything but the rows that only a damaged status leads to (T5, T16, T21). */
export const ROWS =
  "T0 T1 T2 T3 T4 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 T17 T18 T19 T20 take-back drain-again damped refused scaled".split(
    " ",
  );

export function rowOf(pass: PassRecord): string {
  const { seen, calls } = pass;
  const from = countersOf(seen.engine?.status);
  const status = calls.find(({ request }) => request.type === "status")?.request;
  const to = status?.type === "status" ? countersOf(status.status) : from;
  const does = (type: string) => calls.some(({ request }) => request.type === type);
  if (seen.engine === undefined) return "none";
  if (isBeingDeleted(seen)) return "T0";
  if (from.phase === "") return does("status") ? "T1" : "finalizer";
  if (isGatedPhase(from.phase) && !isGateOpen(seen)) return seen.engineClass === undefined ? "T2" : "T3";
  const reason =
    status?.type === "status" ? status.status.conditions?.find(({ type }) => type === "Ready")?.reason : "";
  if (reason === "NameInUse" || reason === "ObjectRejected") return "refused";
  if (does("scale")) return "scaled";
  if (status?.type === "status" && status.status.heldRollout?.until !== undefined) return "damped";
  if (isRest(from.phase)) return to.phase === "creating" ? "T4" : "T6";
  switch (from.phase) {
    case "creating":
      if (to.current > from.current) return "T8";
      if (to.phase === "switching") return "T10";
      return does("create") ? "T7" : "T9";
    case "switching":
      if (does("route")) return "T12";
      return { creating: "T11", draining: "T13", cleaning: "T14" }[to.phase] ?? "T15";
    case "draining":
      if (to.current !== from.current) return "take-back";
      return to.phase === "cleaning" ? "T18" : "T17";
    default:
      if (to.phase === "draining") return "drain-again";
      return isRest(to.phase) ? "T20" : "T19";
  }
}
