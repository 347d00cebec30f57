// Rejects the operator's own account in a template: anyone who may write engines in the operator's namespace would gain
// all of its permissions.

import type { OperatorIdentity } from "../../api/operator-defaults.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { Violation } from "../rules/violation.ts";
import { isOwnAccount } from "./operator-objects.ts";

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
