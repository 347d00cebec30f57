// Restricts the accounts of gateways. RBAC can only grant `patch` on whole engines to the wake agent, which runs in the
// pod that faces clients; admission narrows that to the one annotation that wakes an engine.
import { isDeepStrictEqual } from "node:util";
import { ANNOTATION } from "../../api/labels.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";
import type { AdmissionRequest } from "../review/review.ts";

export const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";
/** Of the account that the operator creates for the gateway of an instance: `<instance>-gateway`. */
export const GATEWAY_ACCOUNT_SUFFIX = "-gateway";

/**
 * By the name alone, whether or not that instance exists: an instance that was deleted with `--cascade=orphan` leaves
 * an account whose permissions still hold. Mirrors the match condition.
 */
export function isGatewayAccount({ username, namespace }: AdmissionRequest): boolean {
  return username.startsWith(`${SERVICE_ACCOUNT_PREFIX}${namespace}:`) && username.endsWith(GATEWAY_ACCOUNT_SUFFIX);
}

/** What the account of a gateway changes beyond the wake annotation, one violation per field. */
export function fencedChanges({ username, object = {}, oldObject = {} }: AdmissionRequest): Violation[] {
  const [now, before] = [withoutBookkeeping(object), withoutBookkeeping(oldObject)];
  return [...new Set([...now.keys(), ...before.keys()])]
    .filter((path) => !isDeepStrictEqual(now.get(path), before.get(path)))
    .sort()
    .map((path) => ({
      path,
      type: "Forbidden",
      detail:
        `${username} is the service account of a gateway, which may change only metadata.annotations[${ANNOTATION.wakeRequested}]; ` +
        "use an account whose name does not end in -gateway",
    }));
}

/** Fields that the API server changes with every write. */
const BOOKKEEPING = new Set(["managedFields", "resourceVersion", "generation"]);

/** The fields of an object by path; those of its metadata one by one, and annotations by key. */
function withoutBookkeeping({ metadata, ...rest }: JsonObject): ReadonlyMap<string, unknown> {
  const { annotations, ...others } = isObject(metadata) ? metadata : {};
  return new Map([
    ...Object.entries(rest),
    ...Object.entries(others)
      .filter(([key]) => !BOOKKEEPING.has(key))
      .map(([key, value]): [string, unknown] => [`metadata.${key}`, value]),
    ...Object.entries(isObject(annotations) ? annotations : {})
      .filter(([key]) => key !== ANNOTATION.wakeRequested)
      .map(([key, value]): [string, unknown] => [`metadata.annotations[${key}]`, value]),
  ]);
}
