// The Ready condition as a ladder (docs/design/engine.md#ready): the first rung that applies names the reason. Reads
// the phase after the decision and at what was observed before its writes.

import type { Verdict } from "../../api/condition-list.ts";
import type { EngineReadyReason } from "../../api/reasons.ts";
import type { Condition } from "../../api/schema/condition.ts";
import { troubleText } from "../../pods/pod-trouble.ts";
import type { EnginePhase } from "../model/phase.ts";
import type { DrainProbe, Generations, PodCount, Routing } from "../model/snapshot.ts";
import { withoutFailure } from "./failure-suffix.ts";

export interface ReadyInput {
  readonly phase: EnginePhase;
  readonly generations: Generations;
  readonly instanceReady: Readonly<Condition> | Verdict | undefined;
  readonly pods: PodCount;
  readonly routing: Routing;
  readonly drainProbe: DrainProbe;
  /** The stored condition, if the phase stays. */
  readonly before: Readonly<Condition> | undefined;
  /** In draining: until when the old generation is kept whatever it runs. */
  readonly settledAt: string | undefined;
  /** The generation has another number than the one whose pods were observed. */
  readonly startsAnew?: boolean;
}

export function readyVerdict(input: ReadyInput): Verdict {
  const { phase, generations, instanceReady, drainProbe } = input;
  const rolling = rollingText(generations.current, phase);
  if (instanceReady?.status !== "True")
    return notReady("InstanceNotReady", instanceReady?.message ?? "The instance has not been observed yet");
  if (phase === "draining" && drainProbe.type === "failing")
    return notReady(
      "DrainCheckFailing",
      `Drain check of generation ${generations.draining ?? "?"} is failing: pod ${drainProbe.pod}: ${drainProbe.cause}`,
    );
  switch (phase) {
    case "stopped":
      return notReady("Stopped", "Engine is stopped (spec.replicas is 0)");
    case "draining":
      return drainingVerdict(input, rolling);
    case "creating":
      return notReady("Rolling", creatingText(input, rolling));
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
function drainingVerdict(input: ReadyInput, rolling: string): Verdict {
  const { generations, drainProbe, before, settledAt } = input;
  if (drainProbe.type === "busy")
    return notReady("Rolling", `${rolling}: generation ${generations.draining} still runs queries`);
  // Until the pods have responded again, what was known last stands.
  const isKnown = before?.reason === "DrainCheckFailing" || before?.reason === "Rolling";
  if (drainProbe.type === "pending" && isKnown) return notReady(before.reason, withoutFailure(before.message));
  const kept = `generation ${generations.draining} is kept until ${settledAt}, because clients may still use its addresses`;
  return notReady("Rolling", settledAt === undefined ? rolling : `${rolling}: ${kept}`);
}

/** While nothing more is known than the phase; of a drain, until its first check. */
function rollingText(generation: number, phase: EnginePhase): string {
  return `Engine is rolling out generation ${generation} (phase ${phase})`;
}

/** Counts pods only when one of them is in trouble: every change of the message is a status write. */
function creatingText({ pods, startsAnew }: ReadyInput, rolling: string): string {
  if (pods.trouble === undefined || startsAnew === true) return rolling;
  return `${rolling}: ${pods.ready} of ${pods.wanted} pods ready: ${troubleText(pods.trouble)}`;
}

function stableVerdict({ generations: { active }, pods, routing }: ReadyInput): Verdict {
  const missing = pods.total < pods.wanted ? ` (${pods.wanted} wanted)` : "";
  const counted = `Generation ${active}: ${pods.ready} of ${pods.total} pods ready${missing}`;
  const because = pods.trouble === undefined ? "" : `: ${troubleText(pods.trouble)}`;
  if (!pods.allReady) return notReady("PodsNotReady", `${counted}${because}`);
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
