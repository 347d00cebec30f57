// The Kubernetes events that the operator records: their reason, type and the content of the note. The only place that
// lists them: the types of the recorders and the table of docs/monitoring.md are derived from it. A new event is a new
// row here.

export interface EventRow {
  readonly type: "Normal" | "Warning";
  /** Where the type depends on what happened. */
  readonly warnsFor?: string;
  /** For docs/monitoring.md: what the note says. */
  readonly note: string;
}

type Rows = Readonly<Record<string, EventRow>>;

const REJECTED = "the fields, or the API server's message";

export const ENGINE_EVENTS = {
  GenerationCreated: { type: "Normal", note: "the new number, the old one, and the first field that differs" },
  GenerationAbandoned: { type: "Normal", note: "a generation abandoned while it was created, and why" },
  TrafficSwitched: { type: "Normal", note: "from which generation to which" },
  DrainStarted: { type: "Normal", note: "a drain that is not complete at its first check" },
  GenerationCleaned: {
    type: "Normal",
    note: "the old generation was deleted, and the engine is not ready yet",
  },
  ReconcileFailed: {
    type: "Warning",
    note: "a reconcile failed, with the API server's message. The message of Ready shows it until a reconcile succeeds",
  },
  ChildRestored: {
    type: "Normal",
    note: "an object of the engine that another client deleted or edited: kind, name, and the field manager of an edited Service",
  },
  PodFailing: { type: "Warning", note: "the first failing pod, the cause and the next step; once per cause" },
  EngineReady: { type: "Normal", note: "generation, replicas, and how long it took" },
  DrainCheckFailing: { type: "Warning", note: "pod and cause; again after a recovery" },
  TemplateRejected: { type: "Warning", note: REJECTED },
  ResourceBoundsExceeded: { type: "Warning", note: REJECTED },
  NameRejected: { type: "Warning", note: REJECTED },
  ObjectRejected: { type: "Warning", note: REJECTED },
  NameInUse: { type: "Warning", note: "the object that has the name" },
  RolloutHeld: {
    type: "Warning",
    note: "another client edited the StatefulSet: field, field manager, and when the next generation starts",
  },
  EngineClassNotFound: { type: "Warning", note: "the class" },
  EngineClassUnready: { type: "Warning", note: "the class, and the fields of its template that are rejected" },
  SecretAliasVolumeDropped: { type: "Warning", note: "volumes omitted because they expose a Secret of the operator" },
  AutoStopScaled: { type: "Normal", note: "from, to and the reason" },
  WakeRequested: { type: "Normal", note: "the source of the request, and how old it was" },
  AutoStopScrapeFailed: {
    type: "Warning",
    note: "auto-stop does not know whether queries run: pod, cause and next step; once per cause",
  },
  ExternalFinalizerOnOwnedResource: {
    type: "Warning",
    note: "objects of a deleted engine that finalizers of other controllers hold",
  },
} as const satisfies Rows;

export const INSTANCE_EVENTS = {
  PhaseChanged: { type: "Normal", warnsFor: "`Degraded` and `Failed`", note: "from, to, and the cause" },
  ComponentReady: { type: "Normal", note: "which component" },
  ComponentUnready: { type: "Warning", note: "which component, and why" },
  PodFailing: {
    type: "Warning",
    note: "once per cause: what keeps a pod of a component from being ready, and the next step. Also for a rollout that is stuck while other pods serve",
  },
  CatalogueLost: {
    type: "Warning",
    note: "the claim of the built-in database is being deleted, was deleted or was replaced, and what to do",
  },
  CatalogueReplaced: {
    type: "Warning",
    note: "the claim that was accepted in place of the lost one, or that the lost catalogue was abandoned",
  },
  VolumeFailing: {
    type: "Warning",
    note: "the claim of the built-in database has no volume, or cannot grow: class, size and next step",
  },
  DeletionBlocked: {
    type: "Warning",
    note: "the engines that block the deletion of the instance, and both ways to proceed",
  },
  GatewayRestarted: {
    type: "Warning",
    note: "its ServiceAccount was deleted and created again: the tokens of its pods are no longer valid, so they are replaced",
  },
  ChildRestored: {
    type: "Normal",
    note: "an object that another client deleted or changed is restored: kind, name and field manager",
  },
  ReconcileFailed: { type: "Warning", note: "a reconcile failed, with the API server's message" },
  PostgresCredentialsCreated: { type: "Normal", note: "the Secret's name" },
  WakeOnZeroDisabled: {
    type: "Warning",
    note: "the gateway uses your own ServiceAccount, so queries do not wake stopped engines",
  },
} as const satisfies Rows;

export const CLASS_EVENTS = {
  OperatorOwnedFieldSet: { type: "Warning", note: "the fields" },
  DeletionBlocked: { type: "Warning", note: "the number of engines that refer to the class" },
} as const satisfies Rows;

/** Recorded by the runtime. */
export const LEASE_EVENTS = { LeaderElection: { type: "Normal", note: "which replica leads" } } as const satisfies Rows;

export type EngineEventReason = keyof typeof ENGINE_EVENTS;
export type InstanceEventReason = keyof typeof INSTANCE_EVENTS;
export type ClassEventReason = keyof typeof CLASS_EVENTS;
