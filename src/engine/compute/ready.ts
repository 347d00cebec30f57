// The Ready condition as a ladder (docs/design/engine.md#ready): the first rung that applies names the reason. Input:
// the phase after the decision, and what was observed before its writes.

import type { Verdict } from "../../api/condition-list.ts";
import type { EngineReadyReason } from "../../api/reasons.ts";
import type { Condition } from "../../api/schema/condition.ts";
import { type TroubledPod, troubleText } from "../../pods/pod-trouble.ts";
import type { EnginePhase } from "../model/phase.ts";
import type { DrainProbe, Generations, PodCount, Routing } from "../model/snapshot.ts";

export interface ReadyInput {
  readonly phase: EnginePhase;
  readonly generations: Generations;
  readonly instanceReady: Readonly<Condition> | Verdict | undefined;
  readonly pods: PodCount;
  readonly routing: Routing;
  readonly drainProbe: DrainProbe;
  /** What the stored status shows, without the failure of the last pass, if the phase stays. */
  readonly before: { readonly ready: Readonly<Condition>; readonly isForbidden: boolean } | undefined;
  /** In draining: until when, at the latest, the old generation is kept for clients with a cached address. */
  readonly settledAt: string | undefined;
  /** The generation has another number than the one whose pods were observed. */
  readonly startsAnew?: boolean;
}

/** With what later passes read back of the message. */
export interface ReadyVerdict extends Verdict {
  /** The pod's trouble that the message names. */
  readonly trouble?: TroubledPod;
  /** The drain check that the message reports was rejected with 403. */
  readonly isForbidden?: true;
}

export function readyVerdict(input: ReadyInput): ReadyVerdict {
  const { phase, generations, instanceReady, drainProbe } = input;
  const rolling = rollingText(generations.current, phase);
  if (instanceReady?.status !== "True")
    return notReady("InstanceNotReady", instanceReady?.message ?? "The instance has not been observed yet");
  if (phase === "draining" && drainProbe.type === "failing")
    return {
      ...notReady(
        "DrainCheckFailing",
        `Drain check of generation ${generations.draining ?? "?"} is failing: pod ${drainProbe.pod}: ${drainProbe.cause}`,
      ),
      ...(drainProbe.isForbidden === true ? { isForbidden: true } : {}),
    };
  switch (phase) {
    case "stopped":
      return notReady("Stopped", "Engine is stopped (spec.replicas is 0)");
    case "draining":
      return drainingVerdict(input, rolling);
    case "creating":
      return creatingVerdict(input, rolling);
    case "switching":
    case "cleaning":
      return notReady("Rolling", rolling);
    case "stable":
      return stableVerdict(input);
    default:
      return phase satisfies never;
  }
}

/** Names neither the pod nor the number of queries: every change of either would be a status write. */
function drainingVerdict(input: ReadyInput, rolling: string): ReadyVerdict {
  const { generations, drainProbe, before, settledAt } = input;
  if (drainProbe.type === "busy")
    return notReady("Rolling", `${rolling}: generation ${generations.draining} still runs queries`);
  // Until the pods have responded again, what was known last stands.
  const { reason, message = "" } = before?.ready ?? {};
  if (drainProbe.type === "pending" && (reason === "DrainCheckFailing" || reason === "Rolling"))
    return { ...notReady(reason, message), ...(before?.isForbidden === true ? { isForbidden: true } : {}) };
  const kept = `generation ${generations.draining} is kept until ${settledAt} at the latest for clients with a cached address, and longer while it runs queries`;
  return notReady("Rolling", settledAt === undefined ? rolling : `${rolling}: ${kept}`);
}

/** While nothing more is known than the phase; of a drain, until its first check. */
export function rollingText(generation: number, phase: string): string {
  return `Engine is rolling out generation ${generation} (phase ${phase})`;
}

/** Counts pods only when one of them is in trouble: every change of the message is a status write. */
function creatingVerdict({ pods, startsAnew }: ReadyInput, rolling: string): ReadyVerdict {
  const { trouble, ready, wanted } = pods;
  if (trouble === undefined || startsAnew === true) return notReady("Rolling", rolling);
  return { ...notReady("Rolling", `${rolling}: ${ready} of ${wanted} pods ready: ${troubleText(trouble)}`), trouble };
}

function stableVerdict({ generations: { active }, pods, routing }: ReadyInput): ReadyVerdict {
  const missing = pods.total < pods.wanted ? ` (${pods.wanted} wanted)` : "";
  const counted = `Generation ${active}: ${pods.ready} of ${pods.total} pods ready${missing}`;
  const { trouble } = pods;
  if (!pods.allReady && trouble !== undefined)
    return { ...notReady("PodsNotReady", `${counted}: ${troubleText(trouble)}`), trouble };
  if (!pods.allReady) return notReady("PodsNotReady", counted);
  // Ready promises that queries arrive, so it waits until the repaired routing Service has been read back.
  if (routing.type !== "live" || routing.target !== active)
    return notReady("PodsNotReady", `${counted}, but ${routingProblem(routing)}`);
  return { type: "Ready", status: "True", reason: "EngineReady", message: `Generation ${active} is serving` };
}

function routingProblem(routing: Routing): string {
  switch (routing.type) {
    case "absent":
      return "the routing Service is missing";
    case "foreign":
      return `Service ${routing.service.metadata?.name} belongs to another owner`;
    case "terminating":
      return "the routing Service is being deleted";
    case "live":
      return "the routing Service does not select it";
    default:
      return routing satisfies never;
  }
}

function notReady(reason: EngineReadyReason, message: string): Verdict {
  return { type: "Ready", status: "False", reason, message };
}
