// Failed passes: the error is shown in the condition Ready and in an event, not in the log alone. Each error is
// reported once; failures that a retry resolves (a conflict, a short outage) change no condition.
import type { Logger } from "@firebolt-operator/kube";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { failedPassStatus } from "../compute/failed-pass.ts";
import type { Instance } from "../model/children.ts";
import type { InstanceMemory } from "../model/memory.ts";
import { ChildWriteError, isRejection, problemOf, UnknownHoldError } from "../model/rejection.ts";
import { tryWriteStatus } from "./apply-status.ts";
import { failureEvent } from "./events.ts";

interface FailureDeps {
  readonly events: EventSink;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

/** Passes in a row after which a failure that is no rejection counts as persistent. */
const LASTING = 3;

/** Records the event once the failure persists; returns whether this pass is the first to report it. */
export function countFailure(instance: Instance, error: unknown, memory: InstanceMemory, deps: FailureDeps): boolean {
  const text = failureText(error);
  const count = memory.failure?.text === text ? memory.failure.count + 1 : 1;
  memory.failure = { text, count };
  const isFirst = count === (containsRejection(error) ? 1 : LASTING);
  if (isFirst) deps.events.record(failureEvent(instance, text));
  return isFirst;
}

/** Stores Ready=False with the error. Best effort: the original failure is the one that counts. */
export async function storeFailure(
  cluster: InstanceCluster,
  instance: Instance,
  { failure }: InstanceMemory,
  { logger, nowMs }: FailureDeps,
): Promise<Instance> {
  const next = failedPassStatus(instance, failure?.text ?? "unknown", nowMs());
  const outcome = next && (await tryWriteStatus(instance, next, { cluster, logger }));
  return outcome?.type === "written" ? outcome.instance : instance;
}

function containsRejection(error: unknown): boolean {
  return isRejection(error) || (error instanceof AggregateError && error.errors.some(isRejection));
}

function failureText(error: unknown): string {
  if (error instanceof AggregateError) return `${error.message}: ${error.errors.map(problemOf).join("; ")}`;
  const isDescriptive = error instanceof ChildWriteError || error instanceof UnknownHoldError;
  return isDescriptive ? error.message : problemOf(error);
}
