// Why the scheduler finds no node, without the number of nodes: nodes come and go, and the reasons stay the same.
import { stableText } from "./stable-text.ts";

export function unschedulable(message: string): { readonly cause: string; readonly next: string } {
  const reasons = schedulerReasons(message);
  return {
    cause: `cannot be scheduled: ${reasons.join(", ") || "the scheduler gives no reason"}`,
    next: remedy(reasons.join(", ")),
  };
}

/**
 * `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had ... . preemption: ...` as its reasons in a fixed order.
 * If a claim stops the scheduler early, it appends a meaningless "not found".
 */
function schedulerReasons(message: string): readonly string[] {
  const own = message.replace(/[.,]?\s*(?:no new claims to deallocate|preemption:)[\s\S]*$/, "");
  const listed = own.replace(/^\d+\/\d+ nodes are available:?\s*/, "").replace(/(?:\.\s+not found)?\.?\s*$/, "");
  const reasons = listed.split(/, (?=\d+ )/).map((reason) => stableText(reason.replace(/^\d+ /, "")));
  return [...new Set(reasons)].filter((reason) => reason !== "").sort();
}

/** The first that applies: requirements of the pod's spec before the free capacity of the nodes. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /PersistentVolumeClaim|persistentvolumeclaim|volume/,
    "check that the storage class exists and can provide the volume: kubectl get pvc,storageclass",
  ],
  [
    /affinity|selector/,
    "correct nodeSelector or affinity in the pod template, or label a node: kubectl get nodes --show-labels",
  ],
  [/taint/, "add a toleration to the pod template, or remove the taint from a node: kubectl describe nodes"],
];

function remedy(reasons: string): string {
  const own = REMEDIES.find(([pattern]) => pattern.test(reasons))?.[1];
  const isFull = /Insufficient|Too many pods/.test(reasons);
  if (isFull || own === undefined)
    return "add node capacity (the old and new generation run side by side), or request less";
  return own;
}
