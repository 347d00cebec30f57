// Templates cannot use objects of the operator: engines, classes and both components of instances, with the real
// validators.
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { engine, engineClass, instance } from "../../../test/harness/fixtures/manifests.ts";
import {
  LOOKS_OWNED,
  OPERATOR_OWNED,
  OWN_OF_OPERATOR,
} from "../../../test/harness/fixtures/operator-owned-templates.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import type { JsonObject } from "../../podtemplate/shapes/shape.ts";
import type { HookId } from "../registration/hooks.ts";
import type { AdmissionRequest, Verdict } from "../review/review.ts";
import { createValidators } from "./create-validators.ts";

const OPERATOR = { namespace: "system", account: { namespace: "system", name: "operator" }, secrets: ["hooks"] };
const validators = createValidators({
  lookups: {
    engineClass: async () => undefined,
    instance: async () => undefined,
    enginesOfClass: async () => [],
    retainedId: async () => undefined,
    claimSize: async () => undefined,
    engineExists: async () => true,
  },
  bounds: {},
  clock: systemClock,
  logger: silentLogger,
  operator: OPERATOR,
});
const json = (manifest: object): JsonObject => JSON.parse(JSON.stringify(manifest)) as JsonObject;

interface Case {
  readonly whose: string;
  readonly id: HookId;
  readonly at: string;
  object(template: PodTemplateFragment, changed?: boolean): JsonObject;
}
const CASES: readonly Case[] = [
  {
    whose: "an engine",
    id: "validate-engine",
    at: "spec.template",
    object: (template, changed) => json(engine({ name: "e", template, replicas: changed ? 2 : 1 })),
  },
  {
    whose: "a class",
    id: "validate-engine-class",
    at: "spec.template",
    object: (template, changed) => json(engineClass({ name: "c", template, drainCheckEnabled: changed === true })),
  },
  {
    whose: "a metadata service",
    id: "validate-instance",
    at: "spec.metadata.template",
    object: (template, changed) =>
      json(instance({ name: "i", metadata: { template }, gateway: { replicas: changed ? 2 : 1 } })),
  },
  {
    whose: "a gateway",
    id: "validate-instance",
    at: "spec.gateway.template",
    object: (template, changed) => json(instance({ name: "i", gateway: { template, replicas: changed ? 2 : 1 } })),
  },
];

function validate(id: HookId, request: Partial<AdmissionRequest>): Promise<Verdict> {
  const whole = { uid: "u", operation: "CREATE", namespace: "ns", name: "x", username: "mara" } as const;
  const signal = new AbortController().signal;
  return validators[id]({ ...whole, object: undefined, oldObject: undefined, ...request }, signal);
}

describe.each(CASES)("$whose", ({ id, at, object }) => {
  const isGateway = at.includes("gateway");

  test.each(OPERATOR_OWNED)("may not use $what", async ({ spec, path, names }) => {
    const verdict = await validate(id, { object: object({ spec }) });
    // A gateway may run under any account: that of another gateway has no further permissions.
    if (isGateway && path === "spec.serviceAccountName") expect(verdict.type).toBe("allow");
    else
      expect(verdict).toMatchObject({
        type: "deny",
        code: 403,
        violations: [{ path: `${at}.${path}`, type: "Forbidden" }],
      });
    if (verdict.type === "deny") expect(verdict.message).toContain(names);
  });

  test.each(OWN_OF_OPERATOR)("may not use $what where the operator runs, and may elsewhere", async ({ spec, path }) => {
    expect(await validate(id, { object: object({ spec }), namespace: "system" })).toMatchObject({
      type: "deny",
      violations: [{ path: `${at}.${path}`, type: "Forbidden" }],
    });
    expect(await validate(id, { object: object({ spec }) })).toMatchObject({ type: "allow" });
  });

  test.each(LOOKS_OWNED)("may use $what", async ({ spec }) => {
    expect(await validate(id, { object: object({ spec }) })).toMatchObject({ type: "allow" });
  });

  test("a stored template with such a volume does not deny other changes, such as a wake-up", async () => {
    const template = { spec: { volumes: [{ name: "v", secret: { secretName: "other-metadata-postgres-creds" } }] } };
    const update = { operation: "UPDATE", object: object(template, true), oldObject: object(template) } as const;
    expect(await validate(id, update)).toMatchObject({ type: "allow" });
    expect(await validate(id, { ...update, oldObject: object({}) })).toMatchObject({ type: "deny" });
  });
});
