// The outcomes of a pass over a class. Pure data.
import type { EngineClassStatus } from "../api/firebolt-engine/engine-class.ts";

export type EngineClassDecision =
  /** The first pass: hold the object back from deletion. */
  | { readonly type: "guard" }
  | { readonly type: "judge"; readonly status: EngineClassStatus }
  /** Being deleted while engines still name it. */
  | { readonly type: "block"; readonly status: EngineClassStatus }
  | { readonly type: "release" }
  /** Being deleted, and held by finalizers of others only. */
  | { readonly type: "leave" };
