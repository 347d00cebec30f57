// Recognizes objects that the operator creates for the instances of a namespace by the pattern of their name: Secrets,
// claims and accounts that no user template may use. By pattern and not by reading the instances: a template that is
// stored before an instance would otherwise get what is created for it later (docs/adr/0017).
import type { OperatorIdentity } from "../../api/operator-defaults.ts";

/** `<something>-auth-signing`, alone or followed by `-…`. */
const isSigningKeyName = (name: string): boolean => /^.+-auth-signing(?:-.*)?$/.test(name);
/** `<something>-g<something>-engine-tls`. */
const isEngineCertificateName = (name: string): boolean => /-g.*-engine-tls$/.test(name);
/** `<instance>-metadata-postgres-creds` and `<instance>-engine-ca-bundle`. */
const isInstanceSecretName = (name: string): boolean => /^.+-(?:metadata-postgres-creds|engine-ca-bundle)$/.test(name);

/** A Secret that the operator creates for an instance or engine. */
export const isOperatorSecret = (name: string): boolean =>
  isInstanceSecretName(name) || isSigningKeyName(name) || isEngineCertificateName(name);

/** `data-<instance>-metadata-pg-<ordinal>`: the database of an instance. */
export const isOperatorClaim = (name: string): boolean => /^data-.+-metadata-pg-\d+$/.test(name);

/** `<instance>-gateway`: may change engines. */
export const isOperatorAccount = (name: string): boolean => /^.+-gateway$/.test(name);

/** A Secret of the operator itself: the certificate of its webhooks, with the key of the authority that signed it. */
export function isOwnSecret(operator: OperatorIdentity | undefined, namespace: string, name: string): boolean {
  if (operator === undefined || operator.namespace !== namespace) return false;
  return operator.secrets.includes(name) || /^.+-webhook-cert$/.test(name);
}

/** The account of the operator itself. */
export function isOwnAccount(operator: OperatorIdentity | undefined, namespace: string, name: string): boolean {
  return operator?.account?.namespace === namespace && operator.account.name === name;
}
