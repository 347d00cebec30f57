// When the API server calls a webhook, in CEL. It evaluates these itself, so what they exclude also passes while no
// webhook can be reached. An expression that fails to evaluate rejects the write: every optional field is guarded by
// has().
import { ANNOTATION } from "../../api/labels.ts";
import { GATEWAY_ACCOUNT_SUFFIX, SERVICE_ACCOUNT_PREFIX } from "../validators/gateway-account.ts";

/** Evaluated by the API server itself: a webhook is called only when all of its conditions are true. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** Whether an optional field differs between the stored object and the new one. */
const differs = (field: string): string =>
  `has(object.${field}) != has(oldObject.${field}) || (has(object.${field}) && object.${field} != oldObject.${field})`;

const SPEC_DIFFERS = differs("spec");
/** Finalizers can always be removed, and so an object can always be deleted. */
const JUDGED_CHANGE = `(!has(object.metadata.deletionTimestamp) && (${SPEC_DIFFERS}))`;

/**
 * Rules are about the spec. Finalizers, labels and wake requests for a stopped engine pass without a call, and so also
 * while no webhook can be reached; the wake-up itself is a change of the spec.
 */
export const SPEC_IS_NEW: MatchCondition = {
  name: "spec-is-new",
  expression: `request.operation != 'UPDATE' || ${JUDGED_CHANGE}`,
};

const BY_GATEWAY =
  `request.userInfo.username.startsWith('${SERVICE_ACCOUNT_PREFIX}' + request.namespace + ':') && ` +
  `request.userInfo.username.endsWith('${GATEWAY_ACCOUNT_SUFFIX}')`;

const [NEW, OLD] = ["object.metadata.annotations", "oldObject.metadata.annotations"];
/** Annotations that were added or changed, then those that were removed; the wake annotation aside. */
const OTHER_ANNOTATIONS =
  `(has(${NEW}) && ${NEW}.exists(k, k != '${ANNOTATION.wakeRequested}' && (!has(${OLD}) || !(k in ${OLD}) || ${OLD}[k] != ${NEW}[k]))) || ` +
  `(has(${OLD}) && ${OLD}.exists(k, k != '${ANNOTATION.wakeRequested}' && (!has(${NEW}) || !(k in ${NEW}))))`;

const MORE_THAN_A_WAKE_REQUEST = [
  SPEC_DIFFERS,
  ...["labels", "finalizers", "ownerReferences"].map((field) => differs(`metadata.${field}`)),
  OTHER_ANNOTATIONS,
].join(" || ");

/** As above, and for everything that the account of a gateway changes beyond the annotation that wakes an engine. */
export const SPEC_IS_NEW_OR_GATEWAY: MatchCondition = {
  name: "spec-is-new-or-gateway",
  expression: `request.operation != 'UPDATE' || ${JUDGED_CHANGE} || (${BY_GATEWAY} && (${MORE_THAN_A_WAKE_REQUEST}))`,
};

export interface OwnWrite {
  /** As the API server names the account: `system:serviceaccount:<namespace>:<name>`. */
  readonly username: string;
  /** Of the spec. Finalizers and status never reach a webhook. */
  readonly field: string;
}

/**
 * The operator's own writes (an engine's replicas when a query wakes it, an instance's id) must not depend on its own
 * webhook: engines wake while it cannot be reached. Only this field, and only by exactly this account: its other writes
 * are validated like those of users, so the exception bypasses none of the rules.
 */
export function notTheOperator({ username, field }: OwnWrite): MatchCondition {
  return {
    name: "not-the-operator",
    expression:
      `request.operation != 'UPDATE' || request.userInfo.username != '${username}' || ` +
      "!has(object.spec) || !has(oldObject.spec) || " +
      `object.spec.exists(k, k != '${field}' && (!(k in oldObject.spec) || object.spec[k] != oldObject.spec[k])) || ` +
      `oldObject.spec.exists(k, k != '${field}' && !(k in object.spec))`,
  };
}
