// One call of the operator to the API server of the model, as it was requested and as it ended, and what may be
// arranged to go wrong.
import type { EngineStatus } from "../../../src/api/firebolt-engine/status.ts";
import type { ChildKind, ChildTypes } from "../../../src/engine/model/child-kinds.ts";
import type { Engine } from "../../../src/engine/model/children.ts";
import type { Removal, RoutingWrite } from "../../../src/engine/model/decision.ts";
import type { ChildMap, Cluster } from "./cluster.ts";
import type { Lag } from "./system.ts";

/** The process was killed: the pass does not continue. */
export class CrashError extends Error {
  override readonly name = "CrashError";
}

export type Fault = "refused" | "lost" | "crashBefore" | "crashAfter";

/** What happens during a pass, by the number of the call it happens at. */
export interface Plan {
  /** From this call on the cluster is another one: the process stood still before it. */
  readonly interrupt?: {
    readonly at: number;
    readonly cluster: Cluster;
    /** Its caches show nothing of what happened meanwhile. */
    readonly blind: boolean;
  };
  readonly fault?: { readonly at: number; readonly kind: Fault };
}

export type Request =
  | { readonly type: "read"; readonly what: string }
  /** Beside the pass: no request of it. */
  | { readonly type: "probe"; readonly set: string }
  | { readonly type: "finalizer"; readonly present: boolean }
  | { readonly type: "apply"; readonly map: ChildMap; readonly object: ChildTypes[ChildKind] }
  | { readonly type: "create"; readonly map: ChildMap; readonly object: ChildTypes[ChildKind] }
  | { readonly type: "route"; readonly write: RoutingWrite }
  | { readonly type: "remove"; readonly map: ChildMap | "pods"; readonly removal: Removal }
  | { readonly type: "scale"; readonly replicas: number }
  | { readonly type: "status"; readonly base: Engine; readonly status: EngineStatus };

/** One call as it happened. */
export interface Call {
  readonly request: Request;
  /** Whether it changed, or could have changed, anything: a conflict or a rejection does not. */
  readonly accepted: boolean;
  readonly before: Cluster;
  readonly after: Cluster;
  /** What the process has not seen, after the call. */
  readonly lag: Lag;
}

/** Whether the call could change anything. */
export const isWrite = ({ request: { type } }: Call): boolean => type !== "read" && type !== "probe";
