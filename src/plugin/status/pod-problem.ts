// What keeps a pod from being ready, as a sentence and with the next step: the same words as in the operator's
// conditions.
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import { isPodReady, type PodTrouble, podTrouble, troubleText } from "../../pods/pod-trouble.ts";
import { nameOf } from "../cluster/find-object.ts";

export interface PodProblem {
  /** `notReady`: no cause is known. */
  readonly type: "trouble" | "notReady";
  readonly text: string;
  readonly next: string | undefined;
  /** Of a `trouble`. */
  readonly trouble?: PodTrouble;
  /** Of an instance, as its pods are labelled. */
  readonly component?: string | undefined;
}

export function podProblem(pod: V1Pod, nowMs: number): PodProblem | undefined {
  if (isPodReady(pod)) return undefined;
  const name = nameOf(pod);
  const trouble = podTrouble(pod, nowMs);
  if (trouble !== undefined)
    return {
      type: "trouble",
      text: troubleText({ pod: name, cause: trouble.cause }),
      next: trouble.next,
      trouble,
      component: pod.metadata?.labels?.[LABEL.component],
    };
  const text =
    pod.metadata?.deletionTimestamp === undefined
      ? `pod ${name} is not ready yet (${pod.status?.phase ?? "no phase"})`
      : `pod ${name} is being deleted`;
  return { type: "notReady", text, next: undefined };
}
