// Slows down new generations that no change of the engine explains: another client edits or deletes the live
// StatefulSet. Each one in a row waits twice as long, so that a policy which edits every new StatefulSet cannot start
// and stop pods without end. Pure; what it remembers is in the status.
import { timeText } from "../../api/condition-list.ts";
import type { HeldRollout } from "../../api/firebolt-engine/status.ts";
import type { V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { jsonHash } from "../../podtemplate/content-hash.ts";
import { RENDERED_HASH } from "../drift/rendered-hash.ts";
import type { StatefulSet } from "../model/children.ts";
import type { Cause } from "../model/decision.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { renderGeneration } from "../render/generation.ts";
import type { OpenGate } from "./gates.ts";
import type { RolloutRecord } from "./next-status.ts";

export type Damping =
  | { readonly type: "start"; readonly rollout: RolloutRecord }
  | { readonly type: "wait"; readonly rollout: RolloutRecord; readonly afterMs: number };

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5 * 60_000;
/** A generation that lived for this long ends a row of unexplained ones. */
const FORGET_MS = 10 * 60_000;

/** Whether the generation that `cause` requires may start now. `wanted` is what the current generation renders to. */
export function dampRollout(s: EngineSnapshot, gate: OpenGate, cause: Cause, wanted: V1StatefulSet): Damping {
  const rolloutHash = rolloutHashOf(s, gate);
  if (isExplained(s, rolloutHash, wanted)) return { type: "start", rollout: { rolloutHash, heldRollout: undefined } };
  const { until, attempts = 0, manager, field } = remembered(s) ?? {};
  const storedMs = Date.parse(until ?? "");
  // Further ahead than any wait: the clock was set back.
  const isWaiting = storedMs <= s.nowMs + LONGEST_WAIT_MS + 1_000;
  const dueMs = isWaiting ? storedMs : s.nowMs + waitMs(attempts, cause);
  const heldRollout = { field: cause.path, ...(manager !== undefined && field === cause.path ? { manager } : {}) };
  if (s.nowMs >= dueMs)
    return { type: "start", rollout: { rolloutHash, heldRollout: { ...heldRollout, attempts: attempts + 1 } } };
  const due = timeText(Math.ceil(dueMs / 1_000) * 1_000);
  return {
    type: "wait",
    rollout: { heldRollout: { ...heldRollout, attempts, until: due } },
    afterMs: Math.max(1, Date.parse(due) - s.nowMs),
  };
}

/**
 * What is remembered when the live StatefulSet is as it should be: nothing waits, and after a while nothing is
 * remembered.
 */
export function rolloutAtRest(s: EngineSnapshot): RolloutRecord {
  const held = remembered(s);
  if (held === undefined) return { heldRollout: undefined };
  const { until: _, ...kept } = held;
  return { heldRollout: kept };
}

function remembered(s: EngineSnapshot): HeldRollout | undefined {
  const held = s.status?.heldRollout;
  const { statefulSet } = s.current;
  const createdMs =
    statefulSet.type === "live" ? Date.parse(statefulSet.object.metadata?.creationTimestamp ?? "") : NaN;
  // One that waits is not forgotten while it does.
  return held?.until === undefined && s.nowMs - createdMs >= FORGET_MS ? undefined : held;
}

/**
 * A StatefulSet that is missing, terminating or replaced by another owner's is an outage: the first time nothing waits.
 */
const MISSING: ReadonlySet<string> = new Set(["statefulSet", "metadata.deletionTimestamp", "metadata.ownerReferences"]);

function waitMs(attempts: number, { path }: Cause): number {
  if (MISSING.has(path) && attempts === 0) return 0;
  return Math.min(FIRST_WAIT_MS * 2 ** attempts, LONGEST_WAIT_MS);
}

/**
 * By the hash that was stored when the newest generation was started; before the first one, by the one on the
 * StatefulSet.
 */
function isExplained(s: EngineSnapshot, hash: string, wanted: V1StatefulSet): boolean {
  const stored = s.status?.rolloutHash;
  if (stored !== undefined) return stored !== hash;
  const live = liveStatefulSet(s);
  return live !== undefined && live.metadata?.annotations?.[RENDERED_HASH] !== annotationsOf(wanted)[RENDERED_HASH];
}

function liveStatefulSet({ current: { statefulSet } }: EngineSnapshot): StatefulSet | undefined {
  return statefulSet.type === "live" ? statefulSet.object : undefined;
}

/** Everything that spec, class, instance and operator contribute to a generation, whatever its number. */
export function rolloutHashOf(s: EngineSnapshot, { effective, instance }: OpenGate): string {
  const { statefulSet } = renderGeneration({ engine: s.identity, effective, generation: 0, instance });
  return jsonHash(annotationsOf(statefulSet));
}

function annotationsOf({ metadata }: V1StatefulSet): Readonly<Record<string, string>> {
  return metadata?.annotations ?? {};
}
