// Which Secrets no user template may reach (api §7.5): whoever may write a template could otherwise read the operator's own
// credentials through it. Says nothing about templates.
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { FireboltInstance } from "../api/instance.ts";
import { credentialsSecretName, engineCaBundleName } from "../api/secret-names.ts";

type Instance = DeepReadonly<FireboltInstance>;
export type IsProtected = (secret: string) => boolean;

/** Those whose names the instance itself records: all that admission refuses (G15). */
export function recordedSecrets(instance: Instance): IsProtected {
  const names = new Set(recordedNames(instance));
  return (secret) => names.has(secret);
}

/** All of them, by recorded name, by the names that the operator would use and by the shape of what it makes in numbers. */
export function protectedSecrets(instance: Instance): IsProtected {
  const name = instance.metadata?.name ?? "";
  // Credentials that the operator made stay when the instance moves to a database of the user's.
  const names = new Set([...recordedNames(instance), credentialsSecretName(name), engineCaBundleName(name)]);
  return (secret) => names.has(secret) || isSigningKeyName(secret) || isEngineCertificateName(secret);
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

/** `<something>-auth-signing`, alone or followed by `-…`. */
const isSigningKeyName = (name: string): boolean => /^.+-auth-signing(?:-.*)?$/.test(name);
/** `<something>-g<something>-engine-tls`. */
const isEngineCertificateName = (name: string): boolean => /-g.*-engine-tls$/.test(name);
