// Which Kubernetes events a stored status deserves (docs/monitoring.md#events). Pure: what is told depends on the status before and after,
// so a repeated pass tells nothing twice.
import type { EventNote } from "@firebolt-operator/kube/events";
import { findCondition } from "../api/condition-list.ts";
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { InstanceEventReason } from "../api/events.ts";
import { API_VERSION, INSTANCE_NAMES } from "../api/group.ts";
import type { InstanceStatus } from "../api/instance-status.ts";
import { withNextStep } from "../api/next-step.ts";
import { mayBeLogin } from "../pods/may-be-login.ts";
import { troubleText } from "../pods/pod-trouble.ts";
import type { Instance } from "./children.ts";
import { claimName, credentialsSecretName, gatewayName, postgresName } from "./names.ts";
import { POSTGRES_DATABASE, POSTGRES_USER } from "./render/credentials-secret.ts";
import { databaseSecretName } from "./render/metadata.ts";
import type { Troubles } from "./snapshot.ts";
import { wakeOffBegins } from "./wake-off.ts";
import type { Restored } from "./write-object.ts";

type Told = Pick<EventNote<InstanceEventReason>, "type" | "reason" | "note">;
type Status = DeepReadonly<InstanceStatus> | undefined;

const TROUBLED = [
  ["postgres", "MetadataReady"],
  ["metadata", "MetadataReady"],
  ["gateway", "GatewayReady"],
] as const;
const LOSS = "MetadataReady";
const COMPONENTS = ["MetadataReady", "GatewayReady"] as const;

/** To be recorded once the status is stored. */
export function eventsOf(before: Instance, after: Status, troubles: Troubles): readonly EventNote[] {
  const told = [
    ...COMPONENTS.flatMap((type) => componentEvent(type, before.status, after)),
    ...phaseEvent(before.status, after),
    ...troubleEvents(before, after, troubles),
    ...volumeEvent(before.status, after, troubles),
    ...heldEvent(before.status, after),
    ...catalogueEvents(before, after),
    ...accountEvent(before, after),
    ...wakeEvent(before.status, after),
  ];
  return told.map((event) => noteOf(before, event));
}

/** To be recorded once the Secret is stored. Its content is nobody's business. */
export function credentialsEvent(instance: Instance): EventNote {
  const note = `Secret ${credentialsSecretName(instance.metadata?.name ?? "")} holds the generated database credentials`;
  return noteOf(instance, { type: "Normal", reason: "PostgresCredentialsCreated", note });
}

export function restoredEvent(instance: Instance, { kind, name, damage }: Restored): EventNote {
  const what =
    damage.type === "deleted"
      ? "was deleted and has been created again"
      : `was changed by ${damage.by ?? "another writer"} and has been put back`;
  return noteOf(instance, { type: "Normal", reason: "ChildRestored", note: `${kind} ${name} ${what}` });
}

/** In the error's own words. */
export function failureEvent(instance: Instance, text: string): EventNote {
  return noteOf(instance, { type: "Warning", reason: "ReconcileFailed", note: text });
}

function noteOf(instance: Instance, told: Told): EventNote {
  return { ...told, action: "Reconcile", regarding: regarding(instance) };
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

/** A component that is only starting is no news; one that stops being ready, or cannot start, is. */
function componentEvent(type: (typeof COMPONENTS)[number], before: Status, after: Status): readonly Told[] {
  const [was, is] = [findCondition(before?.conditions, type), findCondition(after?.conditions, type)];
  if (is === undefined || (was?.status === is.status && was.reason === is.reason)) return [];
  const component = type === "MetadataReady" ? "Metadata" : "Gateway";
  if (is.status === "True") return [{ type: "Normal", reason: "ComponentReady", note: `${component}: ${is.message}` }];
  if (is.reason === "CatalogueLost") return [];
  if (is.reason === "Provisioning" && was?.status !== "True") return [];
  return [{ type: "Warning", reason: "ComponentUnready", note: `${component}: ${is.reason}: ${is.message}` }];
}

/** Each stage of the loss is told: what can still be saved, and what no longer can. */
function catalogueEvents({ metadata, status }: Instance, after: Status): readonly Told[] {
  const [was, is] = [findCondition(status?.conditions, LOSS), findCondition(after?.conditions, LOSS)];
  const isNews = is?.reason === "CatalogueLost" && (was?.reason !== is.reason || was.message !== is.message);
  const [from, to] = [status?.builtInPostgres?.claimUID, after?.builtInPostgres?.claimUID];
  const claim = claimName(metadata?.name ?? "");
  const note =
    to === undefined
      ? `The catalogue of uid ${from} is given up, as accepted: an empty one starts in PersistentVolumeClaim ${claim}`
      : `The catalogue is in PersistentVolumeClaim ${claim} with uid ${to} from now on, in place of uid ${from}, as accepted`;
  return [
    ...(isNews ? [{ type: "Warning", reason: "CatalogueLost", note: is.message } as const] : []),
    ...(from !== undefined && from !== to ? [{ type: "Warning", reason: "CatalogueReplaced", note } as const] : []),
  ];
}

function accountEvent({ metadata, status }: Instance, after: Status): readonly Told[] {
  const [from, to] = [status?.gatewayAccount?.uid, after?.gatewayAccount?.uid];
  if (from === undefined || to === undefined || from === to) return [];
  const note =
    `ServiceAccount ${gatewayName(metadata?.name ?? "")} was deleted and created again: the gateway's pods are replaced, because ` +
    "the API server rejects the tokens of the running ones";
  return [{ type: "Warning", reason: "GatewayRestarted", note }];
}

function wakeEvent(before: Status, after: Status): readonly Told[] {
  const note = wakeOffBegins(before, after);
  return note === undefined ? [] : [{ type: "Warning", reason: "WakeOnZeroDisabled", note }];
}

/** The first time that a condition names a cause. */
function troubleEvents({ metadata, spec, status }: Instance, after: Status, troubles: Troubles): readonly Told[] {
  return TROUBLED.flatMap(([component, type]): readonly Told[] => {
    const trouble = troubles[component];
    const [was, is] = [findCondition(status?.conditions, type), findCondition(after?.conditions, type)];
    if (trouble === undefined || is?.message.includes(troubleText(trouble)) !== true) return [];
    // The name of a pod changes whenever it is replaced; the cause does not.
    if (was?.message.includes(trouble.cause) === true) return [];
    const login = component === "metadata" && mayBeLogin(trouble.cause) ? loginHint(metadata, spec) : "";
    const note = `${troubleText(trouble)}; next: ${trouble.next}${login}`;
    return [{ type: "Warning", reason: "PodFailing", note }];
  });
}

/** What a metadata service that starts and never gets ready most often has in its log. */
function loginHint({ namespace = "", name = "" }: Instance["metadata"] = {}, spec: Instance["spec"]): string {
  const suspect = `; if PostgreSQL rejects its password there, restore Secret ${databaseSecretName(name, spec)}`;
  // Where the database is not the operator's, so is no pod of it.
  if (spec.metadata.postgres !== undefined) return suspect;
  return (
    `${suspect}, or set that password in the database: ` +
    `kubectl exec -n ${namespace} ${postgresName(name)}-0 -- psql -U ${POSTGRES_USER} -d ${POSTGRES_DATABASE} -c "ALTER ROLE ..."`
  );
}

/** The first time that the condition says what the database's volume lacks. */
function volumeEvent(before: Status, after: Status, { volume }: Troubles): readonly Told[] {
  const [was, is] = [findCondition(before?.conditions, LOSS), findCondition(after?.conditions, LOSS)];
  if (volume === undefined || is?.message.includes(volume.cause) !== true) return [];
  if (was?.message.includes(volume.cause) === true) return [];
  return [{ type: "Warning", reason: "VolumeFailing", note: withNextStep(volume.cause, volume.next) }];
}

function heldEvent(before: Status, after: Status): readonly Told[] {
  const [was, is] = [findCondition(before?.conditions, "Ready"), findCondition(after?.conditions, "Ready")];
  if (is?.reason !== "DeletionBlocked" || was?.reason === is.reason) return [];
  return [{ type: "Warning", reason: "DeletionBlocked", note: is.message }];
}

function phaseEvent(before: Status, after: Status): readonly Told[] {
  const [from, to] = [before?.phase, after?.phase];
  if (to === undefined || from === to) return [];
  const moved = from === undefined ? `The instance is ${to}` : `The instance went from ${from} to ${to}`;
  const cause = findCondition(after?.conditions, "Ready");
  const isBad = to === "Degraded" || to === "Failed";
  const note = isBad && cause !== undefined ? `${moved}: ${cause.message}` : moved;
  return [{ type: isBad ? "Warning" : "Normal", reason: "PhaseChanged", note }];
}
