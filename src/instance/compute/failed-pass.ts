// The status after a pass that failed before it observed the components: Ready=False with the error, and everything
// else as stored. Pure.
import { withVerdict } from "../../api/condition-list.ts";
import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import { copyOf } from "../../api/values/deep-readonly.ts";
import type { Instance } from "../model/children.ts";
import { nextPhase } from "./phase.ts";

/** Undefined where the stored status stays: before the first one, and in Failed, whose message has the next step. */
export function failedPassStatus(
  { status, metadata }: Instance,
  problem: string,
  nowMs: number,
): InstanceStatus | undefined {
  if (status?.phase === undefined || status.phase === "Failed") return undefined;
  const verdict = {
    type: "Ready",
    status: "False",
    reason: "ReconcileFailed",
    message: `the last reconcile failed: ${problem}`,
  } as const;
  return {
    ...copyOf<InstanceStatus>(status),
    phase: nextPhase(status.phase, false),
    conditions: withVerdict(status.conditions, verdict, { nowMs, observedGeneration: metadata?.generation ?? 0 }),
  };
}
