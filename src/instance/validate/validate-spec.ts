// Every admission rule for the spec of an instance, in this order: templates and PostgreSQL, authentication, TLS, and
// on an update what may not change while a feature is enabled. Pure.
import type { Violation } from "../../podtemplate/rules/violation.ts";
import type { Instance } from "../model/children.ts";
import { validateAuth } from "./validate-auth.ts";
import { validateBuiltIn, validateVolumeChange } from "./validate-built-in.ts";
import { validateInstance } from "./validate-instance.ts";
import { validateTls } from "./validate-tls.ts";

/** `before` is the stored instance, on an update. */
export function validateInstanceSpec(instance: Instance, before?: Instance): Violation[] {
  return [
    ...validateInstance(instance),
    ...validateBuiltIn(instance.spec.metadata),
    ...validateAuth(instance.spec.auth),
    ...validateTls(instance),
    ...(before === undefined ? [] : [...validateVolumeChange(instance, before), ...validateChange(instance, before)]),
  ];
}

/** The CRD has the same rule; this one reports it by name, also with an older CRD. */
function validateChange(instance: Instance, before: Instance): Violation[] {
  const [now, then] = [instance.spec, before.spec];
  const violations: Violation[] = [];
  const fixed = (path: string, value: unknown, previous: unknown): void => {
    if (previous !== undefined && value !== undefined && value !== previous)
      violations.push({
        path,
        type: "Invalid value",
        value,
        detail: `cannot change once it is set, from ${JSON.stringify(previous)}`,
      });
  };
  if (now.auth?.enabled === true && then.auth?.enabled === true) {
    const [local, former] = [now.auth.local, then.auth.local];
    fixed("spec.auth.local.signingAlgorithm", local?.signingAlgorithm, former?.signingAlgorithm);
    const size = "spec.auth.local.signingKeys.certManager.size";
    fixed(size, local?.signingKeys?.certManager.size, former?.signingKeys?.certManager.size || undefined);
  }
  if (now.tls?.engine?.enabled === true && then.tls?.engine?.enabled === true) {
    const [issuer, former] = [now.tls.engine.certManager?.issuerRef, then.tls.engine.certManager?.issuerRef];
    fixed("spec.tls.engine.certManager.issuerRef.name", issuer?.name, former?.name);
    fixed("spec.tls.engine.certManager.issuerRef.kind", issuer?.kind, former?.kind);
  }
  return violations;
}
