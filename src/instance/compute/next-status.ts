// The status that a pass stores: endpoints and flags from what was observed, one condition per component, Ready as
// their summary, and the phase that follows from it. Phase Ready, Ready=True and all components True always coincide.
import { findCondition, type Verdict, withVerdict } from "../../api/condition-list.ts";
import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { InstanceConditionType } from "../../api/reasons.ts";
import type { Condition } from "../../api/schema/condition.ts";
import { copyOf } from "../../api/values/deep-readonly.ts";
import type { Finding } from "../model/decision.ts";
import { gatewayEndpoint, gatewayName, metadataEndpoint, metadataName } from "../model/names.ts";
import { childOf, type InstanceSnapshot } from "../model/snapshot.ts";
import { catalogueFinding, catalogueOf, postgresRun, rememberedClaim } from "./catalogue.ts";
import { gatewayAccountOf } from "./gateway-account.ts";
import { heldMessage } from "./held-deletion.ts";
import { isAtRest, nextPhase, resetFailedValue, resetHint } from "./phase.ts";
import { isRolledOut, isServing } from "./readiness.ts";
import { causeHash, causeText, findingHash, shownCause } from "./shown-cause.ts";
import { wakeDisabledBy, wakeDisabledText } from "./wake-disabled.ts";

export interface StatusOptions {
  /**
   * What keeps components from being ready, besides the status of their Deployments. The first of a component counts.
   */
  readonly findings?: readonly Finding[];
  /** A finding is final: the operator stops trying until the spec or the annotation `reset-failed` changes. */
  readonly isFinal?: boolean;
  /** Why the API server rejected a write of PostgreSQL. */
  readonly rejection?: string | undefined;
}

type InstanceVerdict = Verdict<InstanceConditionType>;
/** Ready takes over the reason of a component as it is stored. */
type StoredVerdict = Verdict<InstanceConditionType, string>;
type Component = Finding["component"];

/** In the order in which Ready summarises them. AuthReady is not part of it. */
const ROLLED_UP = ["MetadataReady", "GatewayReady", "EngineTLSReady", "GatewayTLSReady"] as const;
/** Features that cannot be enabled yet. */
const DISABLED: readonly InstanceVerdict[] = (["AuthReady", "EngineTLSReady", "GatewayTLSReady"] as const).map(
  (type) => ({ type, status: "True", reason: "Disabled", message: "not enabled" }),
);

export function nextStatus(
  s: InstanceSnapshot,
  { findings: found = [], isFinal: isGivenUp = false, rejection }: StatusOptions = {},
): InstanceStatus {
  const catalogue = catalogueOf(s);
  // Fencing the database of an instance at rest does not start another attempt.
  const isFinal = isGivenUp || (isAtRest(s) && postgresRun(catalogue) !== "running");
  const lost = catalogueFinding(s, rejection);
  // It comes before every other finding: nothing else helps until it is resolved.
  const findings = lost === undefined ? found : [lost, ...found];
  // Without its database the service cannot work, even if its pods are ready.
  const cutOff = catalogue.type === "lost" || findings.some(({ reason }) => reason === "PostgresSecretPreflightFailed");
  const metadataReady = !cutOff && isServing(childOf(s, "Deployment", metadataName(s.identity.name)));
  const gatewayReady = isServing(childOf(s, "Deployment", gatewayName(s.identity.name)));
  const judged = [
    verdictOf("metadata", metadataReady, findings, s),
    withHint(verdictOf("gateway", gatewayReady, findings, s), wakeHint(s)),
    ...DISABLED,
  ];
  const components = applied(s.instance.status?.conditions, judged, s);
  const ready = heldVerdict(s) ?? rollUp(components);
  const kept = keptFields(s);
  const { builtInPostgres } = s.instance.status ?? {};
  const claimUID = catalogue.type === "none" ? builtInPostgres?.claimUID : rememberedClaim(catalogue);
  const gatewayAccount = gatewayAccountOf(s);
  return {
    ...kept,
    // With an external database the last one is kept: its claim is the way back.
    ...(claimUID === undefined ? {} : { builtInPostgres: { claimUID } }),
    ...(gatewayAccount === undefined ? {} : { gatewayAccount }),
    ...(isFinal ? observedReset(s) : {}),
    ...reported(s, findings),
    phase: isFinal ? "Failed" : nextPhase(s.phase, ready.status === "True"),
    metadataReady,
    gatewayReady,
    ...(metadataReady ? { metadataEndpoint: metadataEndpoint(s.identity) } : {}),
    ...(gatewayReady ? { gatewayEndpoint: gatewayEndpoint(s.identity) } : {}),
    conditions: applied(components, [isFinal ? withHint(ready, resetHint(resetFailedValue(s.instance))) : ready], s),
  };
}

/** The stored status without the fields that are recomputed. */
function keptFields({ instance }: InstanceSnapshot): InstanceStatus {
  const {
    metadataEndpoint: _,
    gatewayEndpoint: __,
    gatewayAccount: ___,
    builtInPostgres: ____,
    observedResetFailed: _____,
    reported: ______,
    ...kept
  } = copyOf<InstanceStatus>(instance.status ?? {});
  return kept;
}

function observedReset({ instance }: InstanceSnapshot): Pick<InstanceStatus, "observedResetFailed"> {
  const observedResetFailed = resetFailedValue(instance);
  return observedResetFailed === undefined ? {} : { observedResetFailed };
}

/** Hashes of the causes that the conditions show now, and whether GatewayReady shows that waking is disabled. */
function reported(s: InstanceSnapshot, findings: readonly Finding[]): Pick<InstanceStatus, "reported"> {
  const [metadata, gateway] = [reportedHash("metadata", findings, s), reportedHash("gateway", findings, s)];
  const wakeDisabled = wakeDisabledBy(s) !== undefined;
  if (metadata === undefined && gateway === undefined && !wakeDisabled) return {};
  return {
    reported: {
      ...(metadata === undefined ? {} : { metadata }),
      ...(gateway === undefined ? {} : { gateway }),
      ...(wakeDisabled ? { wakeDisabled } : {}),
    },
  };
}

/**
 * Of the findings only a lost catalogue is reported at every stage; the others are reported when the condition's reason
 * changes.
 */
function reportedHash(component: Component, findings: readonly Finding[], s: InstanceSnapshot): string | undefined {
  const finding = findingOf(component, findings);
  if (finding !== undefined) return finding.reason === "CatalogueLost" ? findingHash(finding) : undefined;
  const cause = shownCause(component, s);
  return cause && causeHash(cause);
}

/** Before the components are observed. */
export function initialStatus(s: InstanceSnapshot): InstanceStatus {
  const components = applied(s.instance.status?.conditions, DISABLED, s);
  const kept = copyOf<InstanceStatus>(s.instance.status ?? {});
  return { ...kept, phase: "Provisioning", conditions: applied(components, [rollUp(components)], s) };
}

/** The conditions of the components stay as they were last observed. */
export function heldStatus(s: InstanceSnapshot): InstanceStatus {
  const kept = copyOf<InstanceStatus>(s.instance.status ?? {});
  const held = heldVerdict(s) ?? rollUp(s.instance.status?.conditions ?? []);
  const ready = s.phase === "Failed" ? withHint(held, resetHint(resetFailedValue(s.instance))) : held;
  const { observedResetFailed: _, ...rest } = kept;
  return {
    ...rest,
    ...(s.phase === "Failed" ? observedReset(s) : {}),
    phase: s.phase === "Failed" ? s.phase : nextPhase(s.phase, false),
    conditions: applied(s.instance.status?.conditions, [ready], s),
  };
}

function heldVerdict({ heldBy, identity, instance }: InstanceSnapshot): InstanceVerdict | undefined {
  if (heldBy.length === 0) return undefined;
  const insistence = instance.metadata?.annotations?.[ANNOTATION.deleteDespiteEngines];
  const message = heldMessage(heldBy, identity, insistence);
  return { type: "Ready", status: "False", reason: "DeletionBlocked", message };
}

/** Messages contain no replica counts: otherwise every pod that starts or terminates would cause a status write. */
function verdictOf(
  component: Component,
  serving: boolean,
  findings: readonly Finding[],
  s: InstanceSnapshot,
): InstanceVerdict {
  const type = component === "metadata" ? "MetadataReady" : "GatewayReady";
  const finding = findingOf(component, findings);
  if (finding !== undefined) return { type, status: "False", reason: finding.reason, message: finding.message };
  const deployment = component === "metadata" ? metadataName(s.identity.name) : gatewayName(s.identity.name);
  const cause = shownCause(component, s);
  if (!serving) {
    const message = `Deployment ${deployment} has no ready replica${cause === undefined ? "" : `: ${causeText(cause)}`}`;
    return { type, status: "False", reason: "Provisioning", message };
  }
  const isStuck = cause?.type !== "growth" && !isRolledOut(childOf(s, "Deployment", deployment));
  const but = isStuck ? ", but its rollout is stuck" : ", but there is a problem";
  const message = `Deployment ${deployment} has a ready replica${cause === undefined ? "" : `${but}: ${causeText(cause)}`}`;
  return { type, status: "True", reason: "Ready", message };
}

function findingOf(component: Component, findings: readonly Finding[]): Finding | undefined {
  return findings.find((candidate) => candidate.component === component);
}

function wakeHint(s: InstanceSnapshot): string {
  const account = wakeDisabledBy(s);
  return account === undefined ? "" : `; ${wakeDisabledText(account)}`;
}

function withHint(verdict: StoredVerdict, hint: string): StoredVerdict {
  return hint === "" ? verdict : { ...verdict, message: joined(verdict.message, hint) };
}

/** What follows may begin with a full stop, which replaces that of the text. */
function joined(text: string, next: string): string {
  return next.startsWith(".") && text.endsWith(".") ? `${text.slice(0, -1)}${next}` : `${text}${next}`;
}

function rollUp(conditions: readonly Readonly<Condition>[]): StoredVerdict {
  const found = ROLLED_UP.map((type) => [type, findCondition(conditions, type)] as const);
  const unknown = found.find(([, condition]) => condition === undefined);
  if (unknown !== undefined)
    return { type: "Ready", status: "False", reason: "Initializing", message: `${unknown[0]} is not yet observed` };
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
