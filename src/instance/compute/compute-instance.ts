// One decision about an instance (docs/design/instance.md#steps-of-a-pass). Pure: no I/O, no clock, and no state of
// earlier passes but that in the snapshot.

import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import { copyOf } from "../../api/values/deep-readonly.ts";
import { violationsText } from "../../podtemplate/rules/violation.ts";
import { validateVolume } from "../database/storage.ts";
import { type Finding, type InstanceDecision, RECHECK_MS } from "../model/decision.ts";
import { gatewayName, metadataName } from "../model/names.ts";
import { childOf, type InstanceSnapshot } from "../model/snapshot.ts";
import { validateNames } from "../validate/validate-built-in.ts";
import { validateId, validateName, validateTemplates } from "../validate/validate-instance.ts";
import { catalogueFinding, catalogueOf, formerClaimFinding, postgresRun, rememberedClaim } from "./catalogue.ts";
import { isForeground } from "./held-deletion.ts";
import { heldStatus, initialStatus, nextStatus } from "./next-status.ts";
import { isAtRest, showsLoss } from "./phase.ts";
import { isComplete, isServing } from "./readiness.ts";
import { computeSafeguards, computeSteps } from "./steps.ts";

export function computeInstance(s: InstanceSnapshot): InstanceDecision {
  if (s.lostId !== undefined) return refuseLostId(s, s.lostId);
  if (s.phase === undefined) return { type: "initialise", status: initialStatus(s) };
  const isHeld = s.heldBy.length > 0;
  if (isHeld && isForeground(s.instance)) return { type: "hold", status: heldStatus(s) };
  // Consent to the loss that keeps it at rest releases it as well.
  const rests = isAtRest(s) && !(showsLoss(s.instance) && !isLost(s));
  // Safety first: no database starts on a volume that is not its own, whatever else the operator has stopped doing.
  if (rests && isLost(s)) return refuse(s);
  if (rests) return rememberClaim(s) ?? (isHeld ? { type: "hold", status: heldStatus(s) } : { type: "rest" });
  const finding = refusal(s);
  if (finding !== undefined) return refuse(s, finding);
  // Before the database starts: after a crash in between, the consent must not count again.
  if (isConsentUnused(s)) return { type: "remember", status: nextStatus(s) };
  const metadata = childOf(s, "Deployment", metadataName(s.identity.name));
  const gateway = childOf(s, "Deployment", gatewayName(s.identity.name));
  const metadataServes = isServing(metadata);
  return {
    type: "provision",
    steps: computeSteps(s),
    status: nextStatus(s),
    recheckMs: metadataServes && isComplete(gateway) && isComplete(metadata) ? RECHECK_MS.ready : RECHECK_MS.waiting,
  };
}

function isConsentUnused(s: InstanceSnapshot): boolean {
  const catalogue = catalogueOf(s);
  return catalogue.type === "accepted" && rememberedClaim(catalogue) !== s.instance.status?.builtInPostgres?.claimUID;
}

/**
 * What an instance at rest still stores: without it the loss of a claim that has got its volume since would go
 * unnoticed.
 */
function rememberClaim(s: InstanceSnapshot): InstanceDecision | undefined {
  const { status } = s.instance;
  const claimUID = rememberedClaim(catalogueOf(s));
  if (claimUID === undefined || claimUID === status?.builtInPostgres?.claimUID) return undefined;
  return { type: "remember", status: { ...copyOf<InstanceStatus>(status ?? {}), builtInPostgres: { claimUID } } };
}

/** Without its account id an instance cannot be rendered, and a new id would be that of another account. */
function refuseLostId(s: InstanceSnapshot, message: string): InstanceDecision {
  if (isAtRest(s) && !isLost(s)) return rememberClaim(s) ?? { type: "rest" };
  return refuse(s, { component: "metadata", reason: "EnsureFailed", message });
}

/** A lost catalogue comes before `finding`. */
function refuse(s: InstanceSnapshot, found?: Finding): InstanceDecision {
  const finding = catalogueFinding(s) ?? found;
  if (finding === undefined) return { type: "rest" };
  const findings = found === undefined ? [] : [found];
  return { type: "refuse", finding, steps: computeSafeguards(s), status: nextStatus(s, { findings }) };
}

function isLost(s: InstanceSnapshot): boolean {
  return postgresRun(catalogueOf(s)) !== "running";
}

/** Whether the pass needs the Secret of the database at all. */
export function needsCredentials({ phase, instance }: Pick<InstanceSnapshot, "phase" | "instance">): boolean {
  const rests = isAtRest({ phase, instance }) && !showsLoss(instance);
  return phase !== undefined && !rests && specRefusal(instance) === undefined;
}

function refusal(s: InstanceSnapshot): Finding | undefined {
  const { instance, credentials } = s;
  const found = specRefusal(instance);
  if (found !== undefined) return found;
  // Before the credentials: a database without its catalogue needs no new password, and must not get one.
  if (isLost(s)) return undefined;
  const former = formerClaimFinding(s);
  if (former !== undefined) return former;
  const volume = validateVolume(s);
  if (volume.length > 0)
    return { component: "metadata", reason: "PostgresEnsureFailed", message: violationsText(volume) };
  if (credentials.type !== "unusable") return undefined;
  return { component: "metadata", reason: credentials.reason, message: credentials.message };
}

function specRefusal(instance: InstanceSnapshot["instance"]): Finding | undefined {
  const name = validateName(instance.metadata?.name ?? "");
  if (name.length > 0) return { component: "metadata", reason: "NameRejected", message: violationsText(name) };
  const database = validateNames(instance.spec.metadata);
  if (database.length > 0)
    return { component: "metadata", reason: "PostgresEnsureFailed", message: violationsText(database) };
  const { metadata, gateway } = validateTemplates(instance);
  if (metadata.length > 0)
    return { component: "metadata", reason: "TemplateRejected", message: violationsText(metadata) };
  if (gateway.length > 0) return { component: "gateway", reason: "TemplateRejected", message: violationsText(gateway) };
  const id = validateId(instance.spec.id);
  return id.length > 0 ? { component: "metadata", reason: "EnsureFailed", message: violationsText(id) } : undefined;
}
