// The four webhooks as data: names, paths, kinds, operations. The server routes by this table, the webhook
// configurations are rendered from it, and so the two cannot disagree.
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { GROUP, type KindNames, VERSION } from "../../api/group.ts";
import { type MatchCondition, SPEC_IS_NEW, SPEC_IS_NEW_OR_GATEWAY } from "./match-conditions.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";
export type FailurePolicy = "Fail" | "Ignore";
export type HookId = "mutate-instance" | "validate-instance" | "validate-engine" | "validate-engine-class";

export interface Hook {
  readonly id: HookId;
  readonly type: "mutating" | "validating";
  /** As the API server names it in denials. */
  readonly name: string;
  readonly path: string;
  readonly kind: KindNames;
  readonly operations: readonly Operation[];
  /** What happens when the webhook cannot be reached. */
  readonly failurePolicy: FailurePolicy;
  readonly matchConditions: readonly MatchCondition[];
  /** The field of the spec that the operator's own account changes without a call. */
  readonly operatorField?: string;
}

const pathOf = (verb: "mutate" | "validate", { singular }: KindNames): string =>
  `/${verb}-${GROUP.replaceAll(".", "-")}-${VERSION}-${singular}`;

const validating = (id: HookId, kind: KindNames, ...operations: readonly Operation[]): Hook => ({
  id,
  type: "validating",
  name: `v${kind.singular}.${GROUP}`,
  path: pathOf("validate", kind),
  kind,
  operations,
  failurePolicy: "Fail",
  matchConditions: [SPEC_IS_NEW],
});

export const HOOKS: readonly Hook[] = [
  {
    id: "mutate-instance",
    type: "mutating",
    name: `m${FireboltInstance.singular}.${GROUP}`,
    path: pathOf("mutate", FireboltInstance),
    kind: FireboltInstance,
    operations: ["CREATE"],
    // The controller sets the id as well, so instances can be created during an outage of the webhook.
    failurePolicy: "Ignore",
    matchConditions: [],
  },
  // The id of an instance that was created without one.
  { ...validating("validate-instance", FireboltInstance, "CREATE", "UPDATE"), operatorField: "id" },
  {
    ...validating("validate-engine", FireboltEngine, "CREATE", "UPDATE"),
    matchConditions: [SPEC_IS_NEW_OR_GATEWAY],
    // Auto-stop and wake.
    operatorField: "replicas",
  },
  validating("validate-engine-class", FireboltEngineClass, "CREATE", "UPDATE", "DELETE"),
];
