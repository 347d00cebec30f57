// What the condition of a component shows as the cause of its state, at most one per component. A hash of it is stored
// in the status, so that a cause is reported as an event once, by whichever process leads. Pure.
import { withNextStep } from "../../api/next-step.ts";
import { type TroubledPod, troubleText } from "../../pods/pod-trouble.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import { growthTrouble } from "../database/storage.ts";
import type { Finding } from "../model/decision.ts";
import { metadataName } from "../model/names.ts";
import { childOf, type InstanceSnapshot, type VolumeTrouble } from "../model/snapshot.ts";
import { isServing } from "./readiness.ts";

type Component = Finding["component"];

export type ShownCause =
  | { readonly type: "pod"; readonly component: "postgres" | Component; readonly trouble: TroubledPod }
  | { readonly type: "volume"; readonly trouble: VolumeTrouble }
  /** The volume keeps its size; everything runs. */
  | { readonly type: "growth"; readonly trouble: VolumeTrouble };

/** Where no finding takes its place. */
export function shownCause(component: Component, s: InstanceSnapshot): ShownCause | undefined {
  const { postgres, metadata, gateway, volume } = s.troubles;
  if (component === "gateway") return gateway && { type: "pod", component, trouble: gateway };
  // The metadata service waits for its database, and that for its volume: the first of them that is in trouble is the
  // cause.
  if (volume !== undefined) return { type: "volume", trouble: volume };
  if (postgres !== undefined) return { type: "pod", component: "postgres", trouble: postgres };
  if (metadata !== undefined) return { type: "pod", component, trouble: metadata };
  // A volume that did not grow prevents nothing from running, so it explains nothing else.
  const growth = isServing(childOf(s, "Deployment", metadataName(s.identity.name))) ? growthTrouble(s) : undefined;
  return growth && { type: "growth", trouble: growth };
}

export function causeText(cause: ShownCause): string {
  return cause.type === "pod" ? troubleText(cause.trouble) : withNextStep(cause.trouble.cause, cause.trouble.next);
}

/** Without the pod's name, which changes whenever the pod is replaced; the cause does not. */
export const causeHash = ({ trouble }: ShownCause): string => contentHash(trouble.cause);

export const findingHash = ({ message }: Finding): string => contentHash(message);
