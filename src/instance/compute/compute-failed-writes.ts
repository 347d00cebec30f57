// What follows from writes that failed: the status shows them beside what was observed, a write that stays invalid ends
// in Failed, and the next attempt comes at a fixed pace. Pure.
import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import { type FailedWrite, type Finding, RECHECK_MS, type WritingDecision } from "../model/decision.ts";
import type { InstanceSnapshot } from "../model/snapshot.ts";
import { nextStatus } from "./next-status.ts";

/** After this many passes in a row, a permanent rejection counts as final. */
const REJECTIONS_UNTIL_FAILED = 3;

export interface FailedWritesDecision {
  readonly status: InstanceStatus;
  readonly recheckMs: number;
  /** To remember for the next pass: permanent rejections in a row. */
  readonly rejections: InstanceSnapshot["rejections"];
}

export function computeFailedWrites(
  s: InstanceSnapshot,
  decision: WritingDecision,
  failures: readonly FailedWrite[],
): FailedWritesDecision {
  const isPermanent = failures.some((failure) => failure.isPermanent);
  const generation = s.instance.metadata?.generation ?? 0;
  const earlier = s.rejections?.generation === generation ? s.rejections.count : 0;
  const isFinal = isPermanent && earlier + 1 >= REJECTIONS_UNTIL_FAILED;
  const found = failures.map(findingOf);
  const rejection = found.find(({ reason }) => reason === "PostgresEnsureFailed")?.message;
  const findings = [...(decision.type === "refuse" ? [decision.finding] : []), ...found];
  return {
    status: nextStatus(s, { findings, isFinal, rejection }),
    recheckMs: isPermanent ? RECHECK_MS.invalid : RECHECK_MS.refused,
    rejections: isPermanent && !isFinal ? { generation, count: earlier + 1 } : undefined,
  };
}

function findingOf({ step, message }: FailedWrite): Finding {
  return step.component === "metadata"
    ? { component: "metadata", reason: step.failure, message }
    : { component: "gateway", reason: step.failure, message };
}
