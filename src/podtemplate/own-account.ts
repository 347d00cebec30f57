// Rejects the operator's own account in a template: anyone who may write engines in the operator's namespace would gain
// all of its permissions.
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { OperatorIdentity } from "../api/operator-defaults.ts";
import type { PodTemplateFragment } from "../api/pod-template.ts";
import { isOwnAccount } from "./operator-objects.ts";
import type { Violation } from "./violation.ts";

export interface OwnAccountRule {
  /** Of the object with the template. */
  readonly namespace: string;
  readonly operator: OperatorIdentity | undefined;
}

/** `path` is where the template is. */
export function validateOwnAccount(
  template: DeepReadonly<PodTemplateFragment> | undefined,
  path: string,
  { namespace, operator }: OwnAccountRule,
): Violation[] {
  const account = template?.spec?.serviceAccountName ?? "";
  if (account === "" || !isOwnAccount(operator, namespace, account)) return [];
  const detail = `${JSON.stringify(account)} is the operator's own service account: use another one`;
  return [{ path: `${path}.spec.serviceAccountName`, type: "Forbidden", detail }];
}
