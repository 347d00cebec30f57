// The last decision of auto-stop as a phrase: ActivityObserved is also the reason of an engine that was never queried.
// Pure.
import type { AutoStopReason } from "../../api/phases.ts";

const PHRASES: Readonly<Record<Exclude<AutoStopReason, "Disabled">, string>> = {
  WakeRequested: "woken by a request",
  ScheduleActive: "kept running by its schedule",
  Stopped: "stopped until a query or a schedule starts it",
  ScrapeFailed: "cannot read the activity of its pods, so it keeps running (ScrapeFailed)",
  ActivityObserved: "not idle long enough to stop",
  Initializing: "waiting for the first activity check",
  Idle: "idle",
};

const BY_REASON = new Map<string, string>(Object.entries(PHRASES));

/** Undefined while auto-stop is off. A reason that this version does not know is shown unchanged. */
export function autoStopPhrase(reason: string | undefined): string | undefined {
  return reason === undefined || reason === "Disabled" ? undefined : (BY_REASON.get(reason) ?? reason);
}
