// What a pass over a class may come to. Pure data.
import type { EngineClassStatus } from "../api/engine-class.ts";

export type EngineClassDecision =
  /** First sight: hold the object back from deletion. */
  | { readonly type: "guard" }
  | { readonly type: "judge"; readonly status: EngineClassStatus }
  /** Being deleted while engines still name it. */
  | { readonly type: "block"; readonly status: EngineClassStatus }
  | { readonly type: "release" }
  /** Being deleted, and held by somebody else only. */
  | { readonly type: "leave" };
