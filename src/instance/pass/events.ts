// The Kubernetes events of a stored status (docs/monitoring.md#events). Pure: they depend on the status before and
// after, so a repeated pass reports nothing twice.
import type { EventNote } from "@firebolt-operator/kube/events";
import { findCondition } from "../../api/condition-list.ts";
import type { InstanceEventReason } from "../../api/events.ts";
import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import { API_VERSION, INSTANCE_NAMES } from "../../api/group.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { causeHash, causeText, type ShownCause, shownCause } from "../compute/shown-cause.ts";
import { wakeDisabledBy, wakeDisabledText } from "../compute/wake-disabled.ts";
import type { Instance } from "../model/children.ts";
import { claimName, credentialsSecretName, gatewayName, postgresName } from "../model/names.ts";
import type { InstanceSnapshot } from "../model/snapshot.ts";
import { POSTGRES_DATABASE, POSTGRES_USER } from "../render/credentials-secret.ts";
import { databaseSecretName } from "../render/metadata.ts";
import type { Restored } from "./write-object.ts";

type EventText = Pick<EventNote<InstanceEventReason>, "type" | "reason" | "note">;
type Status = DeepReadonly<InstanceStatus> | undefined;

const LOSS = "MetadataReady";
const COMPONENTS = ["MetadataReady", "GatewayReady"] as const;

/** To be recorded once the status is stored. */
export function eventsOf(s: InstanceSnapshot, after: Status): readonly EventNote[] {
  const { instance: before } = s;
  const events = [
    ...COMPONENTS.flatMap((type) => componentEvent(type, before.status, after)),
    ...phaseEvent(before.status, after),
    ...causeEvents(s, after),
    ...heldEvent(before.status, after),
    ...catalogueEvents(before, after),
    ...accountEvent(before, after),
    ...wakeEvent(s, after),
  ];
  return events.map((event) => noteOf(before, event));
}

/** To be recorded once the Secret is stored. Its content appears nowhere. */
export function credentialsEvent(instance: Instance): EventNote {
  const note = `Secret ${credentialsSecretName(instance.metadata?.name ?? "")} holds the generated database credentials`;
  return noteOf(instance, { type: "Normal", reason: "PostgresCredentialsCreated", note });
}

export function restoredEvent(instance: Instance, { kind, name, damage }: Restored): EventNote {
  const what =
    damage.type === "deleted"
      ? "was deleted and has been created again"
      : `was changed by ${damage.by ?? "another writer"} and has been restored`;
  return noteOf(instance, { type: "Normal", reason: "ChildRestored", note: `${kind} ${name} ${what}` });
}

/** With the error's own message. */
export function failureEvent(instance: Instance, text: string): EventNote {
  return noteOf(instance, { type: "Warning", reason: "ReconcileFailed", note: text });
}

function noteOf(instance: Instance, event: EventText): EventNote {
  return { ...event, action: "Reconcile", regarding: regarding(instance) };
}

function regarding({ metadata }: Instance): EventNote["regarding"] {
  const { namespace, name = "", uid } = metadata ?? {};
  return {
    apiVersion: API_VERSION,
    kind: INSTANCE_NAMES.kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** A component that is only starting is not reported; one that stops being ready, or cannot start, is. */
function componentEvent(type: (typeof COMPONENTS)[number], before: Status, after: Status): readonly EventText[] {
  const [was, is] = [findCondition(before?.conditions, type), findCondition(after?.conditions, type)];
  if (is === undefined || (was?.status === is.status && was.reason === is.reason)) return [];
  const component = type === "MetadataReady" ? "Metadata" : "Gateway";
  if (is.status === "True") return [{ type: "Normal", reason: "ComponentReady", note: `${component}: ${is.message}` }];
  if (is.reason === "CatalogueLost") return [];
  if (is.reason === "Provisioning" && was?.status !== "True") return [];
  return [{ type: "Warning", reason: "ComponentUnready", note: `${component}: ${is.reason}: ${is.message}` }];
}

/** Each stage of the loss is reported: what can still be saved, and what no longer can. */
function catalogueEvents({ metadata, status }: Instance, after: Status): readonly EventText[] {
  const is = findCondition(after?.conditions, LOSS);
  const isNews = is?.reason === "CatalogueLost" && status?.reported?.metadata !== after?.reported?.metadata;
  const [from, to] = [status?.builtInPostgres?.claimUID, after?.builtInPostgres?.claimUID];
  const claim = claimName(metadata?.name ?? "");
  const note =
    to === undefined
      ? `The catalogue with uid ${from} was abandoned, as accepted: PersistentVolumeClaim ${claim} starts with an empty one`
      : `The catalogue is now in PersistentVolumeClaim ${claim} with uid ${to} instead of ${from}, as accepted`;
  return [
    ...(isNews ? [{ type: "Warning", reason: "CatalogueLost", note: is.message } as const] : []),
    ...(from !== undefined && from !== to ? [{ type: "Warning", reason: "CatalogueReplaced", note } as const] : []),
  ];
}

function accountEvent({ metadata, status }: Instance, after: Status): readonly EventText[] {
  const [from, to] = [status?.gatewayAccount?.uid, after?.gatewayAccount?.uid];
  if (from === undefined || to === undefined || from === to) return [];
  const note =
    `ServiceAccount ${gatewayName(metadata?.name ?? "")} was deleted and created again: the gateway's pods are replaced, because ` +
    "the API server rejects the tokens of the running ones";
  return [{ type: "Warning", reason: "GatewayRestarted", note }];
}

/** When the status begins to show it. */
function wakeEvent(s: InstanceSnapshot, after: Status): readonly EventText[] {
  const account = wakeDisabledBy(s);
  const isNews = after?.reported?.wakeDisabled === true && s.instance.status?.reported?.wakeDisabled !== true;
  if (account === undefined || !isNews) return [];
  const text = wakeDisabledText(account);
  return [{ type: "Warning", reason: "WakeOnZeroDisabled", note: `${text.charAt(0).toUpperCase()}${text.slice(1)}` }];
}

/** The first time that a condition shows a cause. */
function causeEvents(s: InstanceSnapshot, after: Status): readonly EventText[] {
  return (["metadata", "gateway"] as const).flatMap((component): readonly EventText[] => {
    const cause = shownCause(component, s);
    const [was, is] = [s.instance.status?.reported?.[component], after?.reported?.[component]];
    return cause === undefined || is !== causeHash(cause) || is === was ? [] : [causeEvent(cause, s.instance)];
  });
}

function causeEvent(cause: ShownCause, { metadata, spec }: Instance): EventText {
  if (cause.type !== "pod") return { type: "Warning", reason: "VolumeFailing", note: causeText(cause) };
  // A container that never ran did not log in either.
  const isLogin = cause.component === "metadata" && cause.trouble.hasRun === true;
  const note = `${causeText(cause)}; next: ${cause.trouble.next}${isLogin ? loginHint(metadata, spec) : ""}`;
  return { type: "Warning", reason: "PodFailing", note };
}

/** The most frequent cause in the log of a metadata service that starts and never becomes ready. */
function loginHint({ namespace = "", name = "" }: Instance["metadata"] = {}, spec: Instance["spec"]): string {
  const suspect = `; if PostgreSQL rejects its password there, restore Secret ${databaseSecretName(name, spec)}`;
  // An external database has no pod of the operator's.
  if (spec.metadata.postgres !== undefined) return suspect;
  return (
    `${suspect}, or set that password in the database: ` +
    `kubectl exec -n ${namespace} ${postgresName(name)}-0 -- psql -U ${POSTGRES_USER} -d ${POSTGRES_DATABASE} -c "ALTER ROLE ..."`
  );
}

function heldEvent(before: Status, after: Status): readonly EventText[] {
  const [was, is] = [findCondition(before?.conditions, "Ready"), findCondition(after?.conditions, "Ready")];
  if (is?.reason !== "DeletionBlocked" || was?.reason === is.reason) return [];
  return [{ type: "Warning", reason: "DeletionBlocked", note: is.message }];
}

function phaseEvent(before: Status, after: Status): readonly EventText[] {
  const [from, to] = [before?.phase, after?.phase];
  if (to === undefined || from === to) return [];
  const moved = from === undefined ? `The instance is ${to}` : `The instance changed from ${from} to ${to}`;
  const cause = findCondition(after?.conditions, "Ready");
  const isBad = to === "Degraded" || to === "Failed";
  const note = isBad && cause !== undefined ? `${moved}: ${cause.message}` : moved;
  return [{ type: isBad ? "Warning" : "Normal", reason: "PhaseChanged", note }];
}
