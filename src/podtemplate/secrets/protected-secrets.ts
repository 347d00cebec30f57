// Which Secrets no user template may reach (docs/design/admission.md#protected-secrets): a user who may write a
// template could otherwise read the operator's own credentials through it.

import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { OperatorIdentity } from "../../api/operator-defaults.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { isOperatorSecret, isOwnSecret } from "./operator-objects.ts";

type Instance = DeepReadonly<FireboltInstance>;
export type IsProtected = (secret: string) => boolean;

/** Secrets whose names the instance records. */
export function recordedSecrets(instance: Instance): IsProtected {
  const names = new Set(recordedNames(instance));
  return (secret) => names.has(secret);
}

/**
 * All protected Secrets: by recorded name, by the name pattern of what the operator creates for any instance of the
 * namespace, and its own. Credentials that the operator created stay when the instance moves to a database of the
 * user's.
 */
export function protectedSecrets(instance: Instance, operator?: OperatorIdentity): IsProtected {
  const recorded = recordedSecrets(instance);
  const shaped = shapedSecrets(instance.metadata?.namespace ?? "", operator);
  return (secret) => recorded(secret) || shaped(secret);
}

/** Secrets that are recognized by name alone, without an instance. */
export function shapedSecrets(namespace: string, operator: OperatorIdentity | undefined): IsProtected {
  return (secret) => isOperatorSecret(secret) || isOwnSecret(operator, namespace, secret);
}

function recordedNames({ spec, status }: Instance): readonly (string | undefined)[] {
  const { auth, tls, metadata } = spec;
  return [
    auth?.enabled === true ? auth.local?.admin.password.name : undefined,
    ...(status?.auth?.signingKeys ?? []).map(({ secretName }) => secretName),
    status?.engineTLS?.secretName,
    status?.gatewayTLS?.secretName,
    tls?.gateway?.clientCASecretRef?.name,
    metadata.postgres?.credentialsSecretRef.name,
  ];
}
