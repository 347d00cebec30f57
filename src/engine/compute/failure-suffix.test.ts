// The failure behind Ready's message: once, whatever the stored message holds, and never longer than a condition may be.
import { expect, test } from "vitest";
import { type EngineStatus, FAILURE_MAX_LENGTH } from "../../api/firebolt-engine/status.ts";
import { CONDITION_MESSAGE_MAX_LENGTH } from "../../api/schema/condition.ts";
import { withFailure, withLaterFailure } from "./failure-suffix.ts";

const condition = (type: string, reason: string, message: string) =>
  ({ type, status: "False", reason, message, lastTransitionTime: "2026-01-01T00:00:00Z" }) as const;

const stored = (reason: string, message: string, more: Partial<EngineStatus> = {}): Partial<EngineStatus> => ({
  phase: "draining",
  currentGeneration: 3,
  activeGeneration: 2,
  drainingGeneration: 1,
  conditions: [condition("InstanceReady", "NotFound", "no instance"), condition("Ready", reason, message)],
  ...more,
});

const readyOf = ({ conditions }: Partial<EngineStatus>) => conditions?.find(({ type }) => type === "Ready")?.message;

test.each([
  ["EngineReady", "Generation 2 is serving"],
  ["Stopped", "Engine is stopped (spec.replicas is 0)"],
  ["Rolling", "Engine is rolling out generation 3 (phase draining)"],
  ["PodsNotReady", "Generation 2: not all pods are ready"],
  ["InstanceNotReady", "no instance"],
  ["DrainCheckFailing", "Drain check of generation 1 is failing"],
  ["NameInUse", "Engine is not ready (NameInUse): an object of another owner has a name that the engine needs"],
  ["FailedCreate", "Engine is not ready (FailedCreate): a warning about its StatefulSet"],
])("without any record, %s is worded anew: the message may hold a failure already", (reason, words) => {
  let status = stored(reason, "x; the last reconcile failed: old");
  for (let restart = 0; restart < 3; restart++) {
    const { reconcileFailure, ...pruned } = { ...status, ...withLaterFailure(status, `new ${restart}`) };
    expect(reconcileFailure).toEqual({ cause: `new ${restart}`, readyMessage: words });
    status = pruned;
    expect(readyOf(status)).toBe(`${words}; the last reconcile failed: new ${restart}`);
  }
});

test("with a record of what is shown, the message stays, and the failure in it is replaced", () => {
  const refusal = stored("TemplateRejected", "spec.x", { reported: { refusal: "h" } });
  const first = { ...refusal, ...withLaterFailure(refusal, "one") };
  expect(readyOf(first)).toBe("spec.x; the last reconcile failed: one");
  expect(readyOf(withLaterFailure(first, "two"))).toBe("spec.x; the last reconcile failed: two");
});

test("a message that is as long as a condition may be gives way to the failure", () => {
  const shown = withFailure(stored("TemplateRejected", "m".repeat(CONDITION_MESSAGE_MAX_LENGTH)), "cause");
  expect(readyOf(shown)).toHaveLength(CONDITION_MESSAGE_MAX_LENGTH);
  expect(readyOf(shown)).toMatch(/m\.\.\.; the last reconcile failed: cause$/);
});

test("nothing that is stored is longer than the CRD allows", () => {
  const { reconcileFailure } = withFailure(
    stored("TemplateRejected", "m".repeat(CONDITION_MESSAGE_MAX_LENGTH + 1)),
    "c".repeat(5_000),
  );
  expect(reconcileFailure?.cause).toHaveLength(FAILURE_MAX_LENGTH);
  expect(reconcileFailure?.readyMessage).toHaveLength(CONDITION_MESSAGE_MAX_LENGTH);
});
