// Which values are shown beside a field that differs, in plans, events, conditions and logs: those that people weigh
// before they roll an engine, and that cannot be secret. Of everything else only the path is shown. Pure.
import type { FieldDifference } from "./first-difference.ts";

/**
 * Sizes, images, labels and where pods run; of the annotations of a StatefulSet only the operator's own hashes are
 * compared. Commands, variables, annotations of pods, volumes and the like may hold secrets.
 */
const SHOWN = new RegExp(
  [
    String.raw`^spec\.replicas$`,
    String.raw`\.(?:image|imagePullPolicy)$`,
    String.raw`\.resources(?:\.|$)`,
    String.raw`^spec\.template\.spec\.(?:nodeSelector|tolerations|affinity|topologySpreadConstraints|securityContext|overhead|os)(?:[.[]|$)`,
    String.raw`^spec\.template\.spec\.(?:priorityClassName|serviceAccountName|automountServiceAccountToken|runtimeClassName|preemptionPolicy|dnsPolicy|schedulerName|terminationGracePeriodSeconds)$`,
    String.raw`^spec\.template\.spec\.containers\[0\]\.securityContext`,
    String.raw`^spec\.volumeClaimTemplates.*\.(?:storage|storageClassName|accessModes\[\d+\])$`,
    String.raw`^(?:metadata|spec\.template\.metadata)\.labels(?:[.[]|$)`,
    String.raw`^metadata\.annotations\[`,
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
