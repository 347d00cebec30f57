// The Secrets of an instance that no engine template may reach, as far as admission goes: those whose names are known exactly
// (api §7.5 without the rows marked †, G15). The controllers check more.
import type { FireboltInstance } from "../api/instance.ts";

export function exactProtectedSecrets({ spec, status }: FireboltInstance): (secret: string) => boolean {
  const { auth, tls, metadata } = spec;
  const names = new Set([
    auth?.enabled === true ? auth.local?.admin.password.name : undefined,
    ...(status?.auth?.signingKeys ?? []).map(({ secretName }) => secretName),
    status?.engineTLS?.secretName,
    status?.gatewayTLS?.secretName,
    tls?.gateway?.clientCASecretRef?.name,
    metadata.postgres?.credentialsSecretRef.name,
  ]);
  return (secret) => names.has(secret);
}
