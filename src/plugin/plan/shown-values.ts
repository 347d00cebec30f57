// Which values a plan shows beside a field that changes: those that people weigh before they roll an engine, and that cannot be
// secret. Of everything else the plan shows only that it changes. Pure.
import type { FieldDifference } from "../../engine/drift/find-drift.ts";

/** Sizes, images and where pods run. Commands, variables, annotations, volumes and the like may hold secrets. */
const SHOWN = new RegExp(
  [
    String.raw`^spec\.replicas$`,
    String.raw`\.(?:image|imagePullPolicy)$`,
    String.raw`\.resources(?:\.|$)`,
    String.raw`^spec\.template\.spec\.(?:nodeSelector|tolerations|affinity|topologySpreadConstraints|securityContext|overhead|os)(?:[.[]|$)`,
    String.raw`^spec\.template\.spec\.(?:priorityClassName|serviceAccountName|automountServiceAccountToken|runtimeClassName|preemptionPolicy|dnsPolicy|schedulerName|terminationGracePeriodSeconds)$`,
    String.raw`^spec\.template\.spec\.containers\[0\]\.securityContext`,
    String.raw`^spec\.volumeClaimTemplates.*\.(?:storage|storageClassName|accessModes\[\d+\])$`,
    String.raw`^statefulSet$|^metadata\.(?:ownerReferences|deletionTimestamp)$`,
  ].join("|"),
);
/** How a difference names an entry of a list: by its name alone. */
const NAMED = /^\{name: [^{}]*, \u2026\}$/;

export function shownDifference(difference: FieldDifference): FieldDifference {
  const { path, live, wanted } = difference;
  return SHOWN.test(path) ? difference : { path, live: presence(live), wanted: presence(wanted) };
}

const presence = (text: string): string => (text === "unset" || NAMED.test(text) ? text : "(hidden)");
