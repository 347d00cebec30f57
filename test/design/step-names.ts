// The steps of an engine's pass by name, each with the decision that carries it. The compiler demands a row for every step of a decision and
// accepts no other; a test compares the names with the table in docs/design/engine.md.
import type { EngineDecision } from "../../src/engine/model/decision.ts";

/** Taken before anything is decided, by auto-stop or by apply. */
type StepOutsideCompute = "delete-engine" | "add-finalizer" | "auto-stop-scale" | "delete-rejected";

export type EngineStep = EngineDecision["step"] | StepOutsideCompute;

type CarrierOf<D extends EngineDecision, T> = D extends unknown ? (T extends D["step"] ? D["type"] : never) : never;

type CarriedBy<T extends EngineStep> = T extends StepOutsideCompute ? "outside" : CarrierOf<EngineDecision, T>;

export const STEPS: { readonly [T in EngineStep]: CarriedBy<T> } = {
  "delete-engine": "outside",
  "add-finalizer": "outside",
  initialise: "initialise",
  "unknown-phase": "move",
  "class-gate": "refuse",
  "instance-gate": "refuse",
  "validation-gate": "refuse",
  "object-rejected": "refuse",
  "contradiction-at-rest": "broken",
  contradiction: "broken",
  bump: "bump",
  damped: "hold",
  verify: "hold",
  "auto-stop-scale": "outside",
  build: "hold",
  abandon: "abandon",
  "await-pods": "hold",
  "pods-ready": "move",
  "step-back": "move",
  "switch-service": "hold",
  "start-drain": "move",
  "skip-drain": "move",
  "first-rest": "move",
  "nothing-to-drain": "move",
  "switch-back": "move",
  "drain-wait": "hold",
  drained: "move",
  "drain-again": "move",
  "routing-in-the-way": "hold",
  "delete-rejected": "outside",
  clean: "clean",
};
