// The operator's own account in a template: whoever may write one into the operator's namespace would hold all of its rights.
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { OperatorIdentity } from "../api/operator-defaults.ts";
import type { PodTemplateFragment } from "../api/pod-template.ts";
import { isOwnAccount } from "./operator-objects.ts";
import type { Violation } from "./violation.ts";

export interface OwnAccountRule {
  /** Of the object whose template it is. */
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
  const detail = `${JSON.stringify(account)} is the operator's own account: use another one`;
  return [{ path: `${path}.spec.serviceAccountName`, type: "Forbidden", detail }];
}
