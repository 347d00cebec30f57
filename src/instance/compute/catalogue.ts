// Whether the claim of the built-in PostgreSQL is still the one that holds the catalogue. A StatefulSet recreates a
// deleted claim, and PostgreSQL silently initialises an empty one: the operator stores the uid and accepts no other
// without consent. Pure.
import { ANNOTATION } from "../../api/labels.ts";
import { stableText } from "../../pods/stable-text.ts";
import type { Finding } from "../model/decision.ts";
import { claimName, type InstanceIdentity, postgresName } from "../model/names.ts";
import { type ClaimView, childOf, type InstanceSnapshot } from "../model/snapshot.ts";
import { POSTGRES_DATABASE, POSTGRES_USER } from "../render/credentials-secret.ts";
import { hasPostgresGuard } from "../render/postgres.ts";

export type Catalogue =
  /** An external database, or no claim was ever observed. */
  | { readonly type: "none" }
  | { readonly type: "intact"; readonly claim: ClaimView }
  /** Being deleted, and kept only by the pod that uses it. `consent` is the value of the annotation. */
  | { readonly type: "terminating"; readonly claim: ClaimView; readonly accepted: boolean; readonly consent: Consent }
  /** Deleted, or replaced by `claim`. */
  | {
      readonly type: "lost";
      readonly claim: ClaimView | undefined;
      readonly remembered: string;
      readonly consent: Consent;
    }
  /** The same, and the annotation accepts the claim that exists now, or a new one. */
  | { readonly type: "accepted"; readonly claim: ClaimView | undefined; readonly remembered: string };

type Consent = string | undefined;
type Known = Pick<InstanceSnapshot, "instance" | "identity" | "claim" | "children">;

export function catalogueOf(s: Known): Catalogue {
  const { instance, claim } = s;
  if (instance.spec.metadata.postgres !== undefined) return { type: "none" };
  const consent = instance.metadata?.annotations?.[ANNOTATION.acceptEmptyCatalogue];
  const remembered = instance.status?.builtInPostgres?.claimUID ?? noted(s) ?? firstSeen(s);
  if (remembered === undefined) return { type: "none" };
  const acceptsLoss = consent === consentToLoss(remembered);
  if (claim?.uid === remembered)
    return claim.isTerminating
      ? { type: "terminating", claim, accepted: acceptsLoss, consent }
      : { type: "intact", claim };
  const accepted = acceptsLoss || (claim !== undefined && consent === claim.uid);
  return accepted ? { type: "accepted", claim, remembered } : { type: "lost", claim, remembered, consent };
}

/**
 * A consent names one loss, so that one that is kept (in Git, for example) accepts no other. The bare uid accepts the
 * claim that exists; if it accepted the loss of that claim as well, that loss would go unnoticed.
 */
const consentToLoss = (uid: string): string => `lost-${uid}`;

/** The uid that the StatefulSet was stopped for, in case the status was emptied. */
function noted({ children, identity }: Known): string | undefined {
  const statefulSet = childOf({ children }, "StatefulSet", postgresName(identity.name));
  return statefulSet.type === "live" ? statefulSet.object.metadata?.annotations?.[ANNOTATION.lostClaim] : undefined;
}

/**
 * A claim without a volume holds nothing. One that is being deleted counts only if the instance's own StatefulSet uses
 * it: it may belong to an earlier instance.
 */
function firstSeen({ claim, children, identity }: Known): string | undefined {
  if (claim?.volumeName === undefined) return undefined;
  const isOurs = childOf({ children }, "StatefulSet", postgresName(identity.name)).type === "live";
  return claim.isTerminating && !isOurs ? undefined : claim.uid;
}

/** The uid to store from now on. None: the lost catalogue is abandoned, and its successor holds nothing yet. */
export function rememberedClaim(catalogue: Catalogue): string | undefined {
  switch (catalogue.type) {
    case "none":
      return undefined;
    case "intact":
    case "terminating":
      return catalogue.claim.uid;
    case "lost":
      return catalogue.remembered;
    case "accepted":
      if (catalogue.claim?.isTerminating === true) return catalogue.remembered;
      return catalogue.claim !== undefined && hadVolume(catalogue.claim) ? catalogue.claim.uid : undefined;
    default:
      return catalogue satisfies never;
  }
}

const hadVolume = ({ volumeName, wasBound }: ClaimView): boolean => volumeName !== undefined || wasBound;

/**
 * A claim of an earlier instance that is still being deleted: a StatefulSet that is created now would use it, and its
 * deletion would look like the loss of this instance's catalogue.
 */
export function formerClaimFinding(s: Known): Finding | undefined {
  const { claim, children, identity } = s;
  const isOurs = childOf({ children }, "StatefulSet", postgresName(identity.name)).type === "live";
  if (claim?.isTerminating !== true || isOurs || catalogueOf(s).type !== "none") return undefined;
  const message =
    `PersistentVolumeClaim ${claimName(identity.name)} of an earlier instance is still being deleted; PostgreSQL starts once it is deleted. ` +
    `If it stays, see which pod uses it: kubectl describe pvc ${claimName(identity.name)} -n ${identity.namespace}`;
  return { component: "metadata", reason: "PostgresEnsureFailed", message };
}

/** How PostgreSQL is to run: fenced keeps the running pod and starts no other. */
export type PostgresRun = "running" | "fenced" | "stopped";

export function postgresRun(catalogue: Catalogue): PostgresRun {
  if (catalogue.type === "lost") return "stopped";
  return catalogue.type === "terminating" && !catalogue.accepted ? "fenced" : "running";
}

/** `rejection`: why the API server rejected the last write of PostgreSQL. */
export function catalogueFinding(s: Known, rejection?: string): Finding | undefined {
  const catalogue = catalogueOf(s);
  if (catalogue.type !== "terminating" && catalogue.type !== "lost") return undefined;
  const text = catalogue.type === "terminating" ? terminatingText(catalogue.claim, s.identity) : lostText(catalogue, s);
  const message = `${ignoredText(catalogue)}${unguardedText(s, catalogue, rejection)}${text}`;
  return { component: "metadata", reason: "CatalogueLost", message };
}

/** At the beginning of the message: a person who has just set the annotation, without effect, looks for it. */
function ignoredText(catalogue: Extract<Catalogue, { consent: Consent }>): string {
  const { consent } = catalogue;
  if (consent === undefined || (catalogue.type === "terminating" && catalogue.accepted)) return "";
  return `the annotation ${ANNOTATION.acceptEmptyCatalogue} is ignored: ${JSON.stringify(stableText(consent))} does not name this loss. `;
}

function terminatingText({ volumeName }: ClaimView, { namespace, name }: InstanceIdentity): string {
  const pod = `${postgresName(name)}-0`;
  const volume = volumeName === undefined ? "its PersistentVolume" : volumeName;
  return (
    `PersistentVolumeClaim ${claimName(name)} is being deleted, and the catalogue with it as soon as pod ${pod} stops; ` +
    "a deletion cannot be undone, but everything still works. Save the catalogue now: " +
    `kubectl exec -n ${namespace} ${pod} -- pg_dump -U ${POSTGRES_USER} -d ${POSTGRES_DATABASE} --clean --if-exists > catalogue.sql; ` +
    `to keep the volume as well, for another claim: kubectl patch pv ${volume} -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`
  );
}

/**
 * An empty database that accepts writes is the worst case. The message reports what was observed, not what was
 * requested.
 */
function unguardedText(s: Known, { type }: Catalogue, rejection: string | undefined): string {
  const name = postgresName(s.identity.name);
  const rejected = (what: string) => (rejection === undefined ? "" : `; the API server rejects ${what}: ${rejection}`);
  if (type === "lost" && isRunning(s))
    return `StatefulSet ${name} is still running PostgreSQL, possibly on an EMPTY catalogue that takes writes${rejected("stopping it")}. `;
  if (type === "terminating" && rejection !== undefined && !isGuarded(s, "fenced"))
    return `StatefulSet ${name} will start PostgreSQL with an EMPTY catalogue once its pod stops${rejected("keeping it from that")}. `;
  return "";
}

/** Desired or still present. */
function isRunning(s: Known): boolean {
  const found = childOf(s, "StatefulSet", postgresName(s.identity.name));
  if (found.type !== "live") return false;
  const { status } = "status" in found.object ? found.object : {};
  const pods = status !== undefined && "replicas" in status ? (status.replicas ?? 0) : 0;
  return pods > 0 || !isGuarded(s, "stopped");
}

function isGuarded(s: Known, run: "fenced" | "stopped"): boolean {
  const found = childOf(s, "StatefulSet", postgresName(s.identity.name));
  return found.type !== "live" || hasPostgresGuard(found.object, run);
}

function lostText({ claim, remembered }: Extract<Catalogue, { type: "lost" }>, s: Known): string {
  const { identity } = s;
  const name = claimName(identity.name);
  const kept = isRunning(s) ? "" : "; no empty one is started in its place";
  const consent = (value: string) =>
    `kubectl annotate fireboltinstance ${identity.name} -n ${identity.namespace} --overwrite ${ANNOTATION.acceptEmptyCatalogue}=${value}`;
  if (claim === undefined)
    return (
      `PersistentVolumeClaim ${name} (uid ${remembered}) was deleted, and the catalogue with it${kept}. ` +
      "To restore it, create the claim from the volume or a snapshot that you kept and accept it by its uid: " +
      `${consent("UID")}; to start with an empty catalogue, without any database, table or user: ${consent(consentToLoss(remembered))}`
    );
  return (
    `PersistentVolumeClaim ${name} was replaced: its uid is ${claim.uid}, and the catalogue was in ${remembered}${kept}. ` +
    "Accept the claim once it holds the restored catalogue, or to start with an empty " +
    `one, without any database, table or user: ${consent(claim.uid)}`
  );
}
