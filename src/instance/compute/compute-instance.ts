// One decision about an instance (behaviour §2.1, rows 4 to 13). Pure: no I/O, no clock, no memory of earlier passes but what
// the snapshot holds.
import { violationsText } from "../../podtemplate/violation.ts";
import { validateVolume } from "../database/storage.ts";
import { type Finding, type InstanceDecision, RECHECK_MS } from "../decision.ts";
import { claimName, gatewayName, metadataName } from "../names.ts";
import { childOf, type InstanceSnapshot } from "../snapshot.ts";
import { validateId, validateName, validateTemplates } from "../validate.ts";
import { catalogueOf, formerClaimFinding, postgresRun } from "./catalogue.ts";
import { isForeground } from "./held.ts";
import { heldStatus, initialStatus, nextStatus } from "./next-status.ts";
import { isReleased } from "./phase.ts";
import { isComplete, isServing } from "./readiness.ts";
import { computeSteps } from "./steps.ts";

export function computeInstance(s: InstanceSnapshot): InstanceDecision {
  if (s.phase === undefined) return { type: "initialise", status: initialStatus(s) };
  const isAtRest = s.phase === "Failed" && !isReleased(s.instance);
  if (s.heldBy.length > 0 && (isAtRest || isForeground(s.instance))) return { type: "hold", status: heldStatus(s) };
  if (isAtRest) return { type: "rest" };
  const finding = refusal(s);
  if (finding !== undefined) return { type: "refuse", finding, status: nextStatus(s, { findings: [finding] }) };
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

/** Without its account id an instance cannot be rendered, and a new id would not be its own. */
export function refuseLostId(s: InstanceSnapshot, message: string): InstanceDecision {
  if (s.phase === "Failed" && !isReleased(s.instance)) return { type: "rest" };
  const finding = { component: "metadata", reason: "EnsureFailed", message } as const;
  return { type: "refuse", finding, status: nextStatus(s, { findings: [finding] }) };
}

/** Whether the pass needs to know about the database's Secret at all. */
export function needsCredentials({ phase, instance }: Pick<InstanceSnapshot, "phase" | "instance">): boolean {
  return phase !== undefined && (phase !== "Failed" || isReleased(instance)) && specRefusal(instance) === undefined;
}

function refusal(s: InstanceSnapshot): Finding | undefined {
  const { instance, identity, credentials, claim } = s;
  const found = specRefusal(instance);
  if (found !== undefined) return found;
  // Before the credentials: without its catalogue a database needs no new password, and must not get one.
  if (postgresRun(catalogueOf(s)) !== "running") return undefined;
  const former = formerClaimFinding(s);
  if (former !== undefined) return former;
  const volume = validateVolume(instance.spec.metadata.builtInPostgres, claim, claimName(identity.name));
  if (volume.length > 0)
    return { component: "metadata", reason: "PostgresEnsureFailed", message: violationsText(volume) };
  if (credentials.type !== "unusable") return undefined;
  return { component: "metadata", reason: credentials.reason, message: credentials.message };
}

function specRefusal(instance: InstanceSnapshot["instance"]): Finding | undefined {
  const name = validateName(instance.metadata?.name ?? "");
  if (name.length > 0) return { component: "metadata", reason: "NameRejected", message: violationsText(name) };
  const { metadata, gateway } = validateTemplates(instance);
  if (metadata.length > 0)
    return { component: "metadata", reason: "TemplateRejected", message: violationsText(metadata) };
  if (gateway.length > 0) return { component: "gateway", reason: "TemplateRejected", message: violationsText(gateway) };
  const id = validateId(instance.spec.id);
  return id.length > 0 ? { component: "metadata", reason: "EnsureFailed", message: violationsText(id) } : undefined;
}
