// The status a pass ends in: endpoints and flags by what was observed, one condition per component, the roll-up over all of
// them, and the phase that follows from it. Ready phase, Ready=True and all components True are one and the same.
import { findCondition, type Verdict, withVerdict } from "../../api/condition-list.ts";
import type { Condition } from "../../api/conditions.ts";
import { copyOf } from "../../api/deep-readonly.ts";
import type { InstanceStatus } from "../../api/instance-status.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { withNextStep } from "../../api/next-step.ts";
import type { InstanceConditionType } from "../../api/reasons.ts";
import { troubleText } from "../../pods/pod-trouble.ts";
import { growthTrouble } from "../database/storage.ts";
import type { Finding } from "../decision.ts";
import { gatewayEndpoint, gatewayName, metadataEndpoint, metadataName } from "../names.ts";
import { childOf, type InstanceSnapshot, type VolumeTrouble } from "../snapshot.ts";
import { wakeOffHint } from "../wake-off.ts";
import { catalogueFinding, catalogueOf, postgresRun, rememberedClaim } from "./catalogue.ts";
import { gatewayAccountOf } from "./gateway-account.ts";
import { heldMessage } from "./held.ts";
import { isAtRest, nextPhase, resetHint } from "./phase.ts";
import { isRolledOut, isServing } from "./readiness.ts";

export interface StatusOptions {
  /** What keeps components from being ready, besides what their Deployments say. The first of a component counts. */
  readonly findings?: readonly Finding[];
  /** A finding is final: the operator gives up until somebody acts. */
  readonly isFinal?: boolean;
  /** Why the API server rejected a write of PostgreSQL. */
  readonly rejection?: string | undefined;
}

type InstanceVerdict = Verdict<InstanceConditionType>;
/** Ready takes over the reason of a component as it is stored. */
type StoredVerdict = Verdict<InstanceConditionType, string>;
type Component = Finding["component"];

/** In the order in which the roll-up looks at them. AuthReady stands beside it. */
const ROLLED_UP = ["MetadataReady", "GatewayReady", "EngineTLSReady", "GatewayTLSReady"] as const;
/** Features that cannot be switched on yet. */
const DISABLED: readonly InstanceVerdict[] = (["AuthReady", "EngineTLSReady", "GatewayTLSReady"] as const).map(
  (type) => ({ type, status: "True", reason: "Disabled", message: "not enabled" }),
);

export function nextStatus(
  s: InstanceSnapshot,
  { findings: found = [], isFinal: isGivenUp = false, rejection }: StatusOptions = {},
): InstanceStatus {
  const catalogue = catalogueOf(s);
  // A database that is fenced while the instance is at rest does not set it in motion again.
  const isFinal = isGivenUp || (isAtRest(s) && postgresRun(catalogue) !== "running");
  const lost = catalogueFinding(s, rejection);
  // Whatever else is wrong: nothing is as bad, and nothing helps before it.
  const findings = lost === undefined ? found : [lost, ...found];
  // Without its database the service is of no use, whatever its pods say.
  const cutOff = catalogue.type === "lost" || findings.some(({ reason }) => reason === "PostgresSecretPreflightFailed");
  const metadataReady = !cutOff && isServing(childOf(s, "Deployment", metadataName(s.identity.name)));
  const gatewayReady = isServing(childOf(s, "Deployment", gatewayName(s.identity.name)));
  const judged = [
    verdictOf("metadata", metadataReady, findings, s),
    withHint(verdictOf("gateway", gatewayReady, findings, s), wakeOffHint(s)),
    ...DISABLED,
  ];
  const components = applied(s.instance.status?.conditions, judged, s);
  const ready = heldVerdict(s) ?? rollUp(components);
  const hint = isFinal ? resetHint(s.instance.metadata?.annotations?.[ANNOTATION.resetFailed]) : "";
  const stored = copyOf<InstanceStatus>(s.instance.status ?? {});
  const { metadataEndpoint: _, gatewayEndpoint: __, gatewayAccount: ___, builtInPostgres, ...kept } = stored;
  const claimUID = catalogue.type === "none" ? builtInPostgres?.claimUID : rememberedClaim(catalogue);
  const gatewayAccount = gatewayAccountOf(s);
  return {
    ...kept,
    // With an external database the last one stays: its claim is the way back.
    ...(claimUID === undefined ? {} : { builtInPostgres: { claimUID } }),
    ...(gatewayAccount === undefined ? {} : { gatewayAccount }),
    phase: isFinal ? "Failed" : nextPhase(s.phase, ready.status === "True"),
    metadataReady,
    gatewayReady,
    ...(metadataReady ? { metadataEndpoint: metadataEndpoint(s.identity) } : {}),
    ...(gatewayReady ? { gatewayEndpoint: gatewayEndpoint(s.identity) } : {}),
    conditions: applied(components, [withHint(ready, hint)], s),
  };
}

/** Before anything is known about the components. */
export function initialStatus(s: InstanceSnapshot): InstanceStatus {
  const components = applied(s.instance.status?.conditions, DISABLED, s);
  const kept = copyOf<InstanceStatus>(s.instance.status ?? {});
  return { ...kept, phase: "Provisioning", conditions: applied(components, [rollUp(components)], s) };
}

/** The components are left as they were last seen. */
export function heldStatus(s: InstanceSnapshot): InstanceStatus {
  const kept = copyOf<InstanceStatus>(s.instance.status ?? {});
  const { resetFailed } = ANNOTATION;
  const hint = s.phase === "Failed" ? resetHint(s.instance.metadata?.annotations?.[resetFailed]) : "";
  const held = heldVerdict(s) ?? rollUp(s.instance.status?.conditions ?? []);
  const conditions = applied(s.instance.status?.conditions, [withHint(held, hint)], s);
  return { ...kept, phase: s.phase === "Failed" ? s.phase : nextPhase(s.phase, false), conditions };
}

function heldVerdict({ heldBy, identity, instance }: InstanceSnapshot): InstanceVerdict | undefined {
  if (heldBy.length === 0) return undefined;
  const insistence = instance.metadata?.annotations?.[ANNOTATION.deleteDespiteEngines];
  const message = heldMessage(heldBy, identity, insistence);
  return { type: "Ready", status: "False", reason: "DeletionBlocked", message };
}

/** Counts of replicas stay out of the messages: they would make a write of every pod that comes and goes. */
function verdictOf(
  component: Component,
  serving: boolean,
  findings: readonly Finding[],
  s: InstanceSnapshot,
): InstanceVerdict {
  const type = component === "metadata" ? "MetadataReady" : "GatewayReady";
  const finding = findings.find((candidate) => candidate.component === component);
  if (finding !== undefined) return { type, status: "False", reason: finding.reason, message: finding.message };
  const deployment = component === "metadata" ? metadataName(s.identity.name) : gatewayName(s.identity.name);
  const trouble = troubleOf(component, s);
  if (!serving) {
    const message = `Deployment ${deployment} has no ready replica${trouble === undefined ? "" : `: ${trouble}`}`;
    return { type, status: "False", reason: "Provisioning", message };
  }
  const isStuck = trouble !== undefined && !isRolledOut(childOf(s, "Deployment", deployment));
  const but = isStuck ? ", but its rollout is stuck" : ", but something is wrong";
  // A volume that stays as it is keeps nothing from running, so it explains nothing else.
  const told = trouble ?? (component === "metadata" ? textOf(growthTrouble(s)) : undefined);
  const message = `Deployment ${deployment} has a ready replica${told === undefined ? "" : `${but}: ${told}`}`;
  return { type, status: "True", reason: "Ready", message };
}

/** A metadata service waits for its database, and that for its volume: what is wrong there comes first. */
function troubleOf(component: Component, { troubles }: InstanceSnapshot): string | undefined {
  if (component === "metadata" && troubles.volume !== undefined) return textOf(troubles.volume);
  const found = component === "metadata" ? (troubles.postgres ?? troubles.metadata) : troubles.gateway;
  return found === undefined ? undefined : troubleText(found);
}

function textOf(trouble: VolumeTrouble | undefined): string | undefined {
  return trouble === undefined ? undefined : withNextStep(trouble.cause, trouble.next);
}

/** A hint may begin with a full stop; two in a row are a mistake. */
function withHint(verdict: StoredVerdict, hint: string): StoredVerdict {
  const { message } = verdict;
  const before = hint.startsWith(".") && message.endsWith(".") ? message.slice(0, -1) : message;
  return hint === "" ? verdict : { ...verdict, message: `${before}${hint}` };
}

function rollUp(conditions: readonly Readonly<Condition>[]): StoredVerdict {
  const found = ROLLED_UP.map((type) => [type, findCondition(conditions, type)] as const);
  const unknown = found.find(([, condition]) => condition === undefined);
  if (unknown !== undefined)
    return { type: "Ready", status: "False", reason: "Initializing", message: `${unknown[0]} is not known yet` };
  for (const [type, condition] of found)
    if (condition !== undefined && condition.status !== "True")
      return { type: "Ready", status: "False", reason: condition.reason, message: `${type}: ${condition.message}` };
  return { type: "Ready", status: "True", reason: "AllComponentsReady", message: "all components are ready" };
}

function applied(
  conditions: InstanceSnapshotConditions,
  verdicts: readonly StoredVerdict[],
  { nowMs, instance }: InstanceSnapshot,
): Condition[] {
  const context = { nowMs, observedGeneration: instance.metadata?.generation ?? 0 };
  let list = (conditions ?? []).map((condition) => ({ ...condition }));
  for (const verdict of verdicts) list = withVerdict(list, verdict, context);
  return list;
}

type InstanceSnapshotConditions = readonly Readonly<Condition>[] | undefined;
