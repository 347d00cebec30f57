// The reasons of every condition: what each one means, whether waiting ends it, and the next step. The only place that
// lists them: types, the plugin, the model test and the tables in docs/concepts.md are derived from it. A new reason
// is a new row here, and unit tests require the rest: code that sets it, and a next step if it is stuck
// (vocabulary.test.ts), the tables in docs/concepts.md and the health checks in docs/adopt/gitops.md (`npm run
// generate`), and, if something is wrong, its name in docs/troubleshooting.md (test/docs/faults.test.ts).
import { ENGINE_CONTRACT } from "./engine-contract.ts";
import { ANNOTATION, LABEL } from "./labels.ts";
import type { EnginePhase } from "./phases.ts";

export interface ReasonRow {
  readonly status: "True" | "False";
  /** For docs/concepts.md. */
  readonly meaning: string;
  /** The next step, where the reason alone decides it. NAME and NAMESPACE stand for those of the object. */
  readonly remedy?: string;
  /** The message quotes the API server, whose words may name a better step. */
  readonly isQuoting?: true;
  /** Waiting does not end it: a person has to act. */
  readonly isStuck?: true;
  /** Stuck because of another object, which may recover: health checks of other tools do not fail, they wait. */
  readonly isOfOthers?: true;
  /**
   * Phases of an engine in which the operator sets it; "any" where the phase does not matter, "rest" for stable,
   * stopped and creating.
   */
  readonly phases?: readonly EnginePhase[] | "any" | "rest";
}

type Rows = Readonly<Record<string, ReasonRow>>;

const CORRECT_FIELD = "correct the field named and apply the manifest again";
const CORRECT_OBJECT = "correct the field, policy or object named; the operator retries automatically";
const DISABLED = {
  Disabled: { status: "True", meaning: "the feature is not available yet, and enabling it is rejected" },
} as const satisfies Rows;

export const ENGINE_REASONS = {
  Ready: {
    EngineReady: { status: "True", meaning: "serving on its active generation", phases: ["stable"] },
    Stopped: {
      status: "False",
      meaning: "stopped intentionally (`replicas: 0`). The only False reason that needs no action",
      phases: ["stopped"],
    },
    Rolling: {
      status: "False",
      meaning: "a rollout is in progress",
      phases: ["creating", "switching", "draining", "cleaning"],
    },
    PodsNotReady: {
      status: "False",
      meaning: "at rest, but pods are missing or not ready",
      remedy: `see its pods: kubectl get pods -n NAMESPACE -l ${LABEL.engine}=NAME`,
      phases: ["stable"],
    },
    InstanceNotReady: {
      status: "False",
      meaning:
        "its instance is missing, being deleted, or has no metadata endpoint (not yet, or no longer). The message says which",
      remedy: "create the instance, or see what it waits for: kubectl firebolt status -n NAMESPACE",
      isStuck: true,
      isOfOthers: true,
      phases: "any",
    },
    DrainCheckFailing: {
      status: "False",
      meaning: "a pod of the old generation does not report whether it still runs queries",
      remedy: `make the pod respond on port ${ENGINE_CONTRACT.ports.metrics} again, delete the pod, or set spec.rollout: recreate`,
      isStuck: true,
      isOfOthers: true,
      phases: ["draining"],
    },
    FireboltEngineClassUnready: {
      status: "False",
      meaning: "its class is missing, or the class's template is rejected",
      remedy: CORRECT_FIELD,
      isStuck: true,
      phases: "rest",
    },
    NameRejected: {
      status: "False",
      meaning: "its name is too long, or not usable for the objects that are named after it",
      remedy: "delete the engine and create it under another name",
      isStuck: true,
    },
    TemplateRejected: {
      status: "False",
      meaning: "its pod template sets an operator-owned field, or refers to an object that templates may not use",
      remedy: CORRECT_FIELD,
      isStuck: true,
    },
    ResourceBoundsExceeded: {
      status: "False",
      meaning: "it requests more, or less, than the operator's resource bounds allow",
      remedy: CORRECT_FIELD,
      isStuck: true,
    },
    ObjectRejected: {
      status: "False",
      meaning:
        "the API server rejects an object of the engine: invalid, forbidden by a policy or quota, or a webhook that cannot be called",
      remedy: CORRECT_OBJECT,
      isQuoting: true,
      isStuck: true,
      phases: "any",
    },
    NameInUse: {
      status: "False",
      meaning: "an object of another owner has a name that the engine needs",
      remedy: "delete or rename the object named, or create the engine under another name",
      isStuck: true,
      phases: "any",
    },
    Initializing: { status: "False", meaning: "not yet reconciled", phases: ["creating"] },
    ExternalFinalizer: {
      status: "False",
      meaning: "being deleted, and a finalizer of another controller holds one of its objects",
      remedy:
        "repair the controller that owns the finalizer, or remove the finalizer from the object that the message names",
    },
    StatefulSetWarning: {
      status: "False",
      meaning:
        "a warning event of the StatefulSet, quoted in the message. Most warnings have their own reason, such as `FailedCreate`",
      remedy: CORRECT_OBJECT,
      isQuoting: true,
    },
  },
  InstanceReady: {
    InstanceReady: { status: "True", meaning: "the instance provides a metadata endpoint and an id" },
    InstanceNotReady: { status: "False", meaning: "it does not; the message says why" },
  },
} as const satisfies Record<string, Rows>;

/** Of either component of an instance. */
const COMPONENT_REASONS = {
  Ready: { status: "True", meaning: "a pod is ready" },
  Provisioning: {
    status: "False",
    meaning: "no pod is ready",
    remedy: `take the step that the message names, if any, or see its pods: kubectl get pods -n NAMESPACE -l ${LABEL.instance}=NAME`,
  },
  TemplateRejected: {
    status: "False",
    meaning: "its template sets a field that the operator owns",
    remedy: CORRECT_OBJECT,
    isStuck: true,
  },
  EnsureFailed: {
    status: "False",
    meaning:
      "an object could not be written: the API server, a policy, a quota or a webhook rejects it, or an object of another owner has its name. The message names the object and quotes the API server; the write is retried every 10 s",
    remedy: CORRECT_OBJECT,
    isQuoting: true,
    isStuck: true,
  },
} as const satisfies Rows;

export const INSTANCE_REASONS = {
  MetadataReady: {
    ...COMPONENT_REASONS,
    NameRejected: {
      status: "False",
      meaning: "the instance's name has more than 63 characters, the limit of a label value",
      remedy: "delete the instance and create it under a shorter name",
      isStuck: true,
    },
    PostgresSecretPreflightFailed: {
      status: "False",
      meaning:
        "the Secret of the external database is missing or lacks a key. Checked once a minute while the metadata service serves",
      remedy: "create the Secret, or add the key, that the message names",
      isStuck: true,
    },
    PostgresEnsureFailed: {
      status: "False",
      meaning: "the built-in database, its volume or its Secret cannot be created or used",
      remedy:
        "take the step that the message names, or correct the field, policy or object named; the operator retries automatically",
      isQuoting: true,
      isStuck: true,
    },
    CatalogueLost: {
      status: "False",
      meaning:
        "the claim of the built-in database is being deleted, was deleted, or was replaced. The message says what can still be saved; the operator starts no empty database without consent",
      remedy:
        "save the catalogue while it still exists, or restore it from a backup; the commands are in the message: kubectl describe fireboltinstance NAME -n NAMESPACE",
      isStuck: true,
    },
  },
  GatewayReady: COMPONENT_REASONS,
  AuthReady: DISABLED,
  EngineTLSReady: DISABLED,
  GatewayTLSReady: DISABLED,
  /** Besides these, Ready takes over the reason of the first component that is not ready. */
  Ready: {
    AllComponentsReady: { status: "True", meaning: "metadata service and gateway are ready" },
    Initializing: { status: "False", meaning: "a component has not been observed yet" },
    DeletionBlocked: {
      status: "False",
      meaning:
        "it was deleted, but engines use it: nothing is deleted and everything keeps running. The message names the engines and the annotation that deletes it anyway",
      remedy:
        "delete its engines, or delete the instance while they use it, which leaves them running without metadata; in both cases the catalogue of " +
        "a built-in PostgreSQL is deleted with the instance, unless spec.metadata.builtInPostgres.volumeRetention is Retain, which can " +
        `still be set: kubectl annotate fireboltinstance NAME -n NAMESPACE --overwrite ${ANNOTATION.deleteDespiteEngines}=true`,
      isStuck: true,
    },
    ReconcileFailed: {
      status: "False",
      meaning:
        "the API server rejects what the operator has to read, or a deletion cannot proceed. The message quotes the API server",
      remedy: CORRECT_OBJECT,
      isQuoting: true,
      isStuck: true,
    },
  },
} as const satisfies Record<string, Rows>;

export const CLASS_REASONS = {
  Ready: {
    Admissible: { status: "True", meaning: "engines can use it" },
    OperatorOwnedFieldSet: {
      status: "False",
      meaning: "its template sets fields that the operator owns; the message lists them",
      remedy: "remove the fields that the message lists from the template of the class",
      isStuck: true,
    },
    DeletionBlocked: {
      status: "False",
      meaning: "it is being deleted, but engines still refer to it",
      remedy: "clear spec.engineClassRef of those engines, or delete them",
      isStuck: true,
    },
  },
} as const satisfies Record<string, Rows>;

export type EngineConditionType = keyof typeof ENGINE_REASONS;
export type InstanceConditionType = keyof typeof INSTANCE_REASONS;

export type EngineReadyReason = keyof typeof ENGINE_REASONS.Ready;
export type EngineInstanceReadyReason = keyof typeof ENGINE_REASONS.InstanceReady;
export type MetadataReadyReason = keyof typeof INSTANCE_REASONS.MetadataReady;
export type GatewayReadyReason = keyof typeof INSTANCE_REASONS.GatewayReady;
export type InstanceReadyReason = keyof typeof INSTANCE_REASONS.Ready;
export type EngineClassReadyReason = keyof typeof CLASS_REASONS.Ready;

/** Of any condition that the operator sets. */
export type ConditionReason =
  | EngineReadyReason
  | EngineInstanceReadyReason
  | MetadataReadyReason
  | GatewayReadyReason
  | keyof typeof DISABLED
  | InstanceReadyReason
  | EngineClassReadyReason;

/** The row of an engine's Ready; undefined for a reason of the StatefulSet's own. */
export const engineReadyRow = (reason: string | undefined): ReasonRow | undefined =>
  rowOf(ENGINE_REASONS.Ready, reason);

/** Reasons of an engine's Ready for which health checks of other tools fail. */
export const FAILED_ENGINE_REASONS: readonly string[] = Object.entries<ReasonRow>(ENGINE_REASONS.Ready).flatMap(
  ([reason, { isStuck, isOfOthers }]) => (isStuck === true && isOfOthers !== true ? [reason] : []),
);

/** The row of any condition of an instance. */
export function instanceRow(reason: string | undefined): ReasonRow | undefined {
  const tables: readonly Rows[] = Object.values(INSTANCE_REASONS);
  return tables.flatMap((rows) => rowOf(rows, reason) ?? [])[0];
}

function rowOf(rows: Rows, reason: string | undefined): ReasonRow | undefined {
  return reason !== undefined && Object.hasOwn(rows, reason) ? rows[reason] : undefined;
}

/** The row's next step, for one object. */
export function remedyFor(
  row: ReasonRow | undefined,
  object: { readonly namespace: string; readonly name: string },
): string | undefined {
  return row?.remedy?.replaceAll(/\bNAMESPACE\b/g, object.namespace).replaceAll(/\bNAME\b/g, object.name);
}

const OF_REST: readonly EnginePhase[] = ["creating", "stable", "stopped"];

/**
 * Whether the operator may set this reason of Ready while an engine is in the phase, apart from what validation
 * rejects.
 */
export function isReadyReasonOf(phase: string, reason: string): boolean {
  const phases = engineReadyRow(reason)?.phases;
  if (phases === undefined) return false;
  return phases === "any" || (phases === "rest" ? OF_REST : phases).some((one) => one === phase);
}
