// Rules for `spec.tls` beyond its schema. Pure; called by admission, and by the controller once TLS is available.

import type { TlsListener } from "../../api/firebolt-instance/tls.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import type { Instance } from "../model/children.ts";
import { validateKeySize } from "./validate-certificate.ts";

type Listener = DeepReadonly<TlsListener>;
type Reference = "secretRef" | "clientCASecretRef" | "crlSecretRef";

const REFERENCES: readonly Reference[] = ["secretRef", "clientCASecretRef", "crlSecretRef"];

export function validateTls(instance: Instance): Violation[] {
  const { gateway, engine } = instance.spec.tls ?? {};
  const isProvisioned = provisionedSecrets(instance);
  return [
    ...(gateway === undefined ? [] : validateListener(gateway, "spec.tls.gateway", isProvisioned)),
    ...(engine === undefined ? [] : validateListener(engine, "spec.tls.engine", isProvisioned)),
    ...(gateway?.crlSecretRef !== undefined && gateway.clientCASecretRef === undefined
      ? [
          forbidden(
            "spec.tls.gateway.crlSecretRef",
            "crlSecretRef needs clientCASecretRef: without a client CA no client is verified",
          ),
        ]
      : []),
    ...(engine?.clientCASecretRef === undefined
      ? []
      : [forbidden("spec.tls.engine.clientCASecretRef", "mutual TLS is possible on the gateway only")]),
    ...(engine?.secretRef === undefined
      ? []
      : [forbidden("spec.tls.engine.secretRef", "a Secret of your own is not supported on engines; use certManager")]),
  ];
}

function validateListener(listener: Listener, path: string, isProvisioned: (secret: string) => boolean): Violation[] {
  const { enabled, certManager, secretRef, clientCASecretRef, crlSecretRef } = listener;
  const given = REFERENCES.filter((name) => listener[name] !== undefined);
  const violations: Violation[] = given
    .filter((name) => isProvisioned(listener[name]?.name ?? ""))
    .map((name) =>
      forbidden(
        `${path}.${name}`,
        `Secret ${JSON.stringify(listener[name]?.name)} is managed by the operator; use one of your own`,
      ),
    );
  if (!enabled) {
    if (clientCASecretRef !== undefined)
      violations.push(
        forbidden(
          `${path}.clientCASecretRef`,
          "clientCASecretRef needs enabled: true; otherwise clients go unverified",
        ),
      );
    if (crlSecretRef !== undefined)
      violations.push(
        forbidden(`${path}.crlSecretRef`, "crlSecretRef needs enabled: true; otherwise nothing is revoked"),
      );
    return violations;
  }
  if (certManager !== undefined && secretRef !== undefined)
    violations.push(forbidden(`${path}.secretRef`, "exactly one of certManager and secretRef is possible"));
  if (certManager === undefined && secretRef === undefined)
    violations.push(required(path, "a certificate source is required: certManager or secretRef"));
  for (const name of given)
    if (!listener[name]?.name) violations.push(required(`${path}.${name}.name`, "name the Secret"));
  if (certManager !== undefined) violations.push(...validateKeySize(certManager, `${path}.certManager`));
  return violations;
}

/** The Secrets that the operator provisions itself, by name and by the shape of their names. */
function provisionedSecrets({ spec, status }: Instance): (secret: string) => boolean {
  const ownCertificate = (listener: Listener | undefined) => listener !== undefined && listener.secretRef === undefined;
  const names = new Set([
    ...(status?.auth?.signingKeys ?? []).map(({ secretName }) => secretName),
    ownCertificate(spec.tls?.engine) ? status?.engineTLS?.secretName : undefined,
    ownCertificate(spec.tls?.gateway) ? status?.gatewayTLS?.secretName : undefined,
  ]);
  return (secret) => names.has(secret) || isSigningKeyName(secret) || isEngineCertificateName(secret);
}

/** `<something>-auth-signing`, alone or followed by `-…`. */
const isSigningKeyName = (name: string): boolean => /^.+-auth-signing(?:-.*)?$/.test(name);
/** `<something>-g<something>-engine-tls`. */
const isEngineCertificateName = (name: string): boolean => /-g.*-engine-tls$/.test(name);

const forbidden = (path: string, detail: string): Violation => ({ path, type: "Forbidden", detail });
const required = (path: string, detail: string): Violation => ({ path, type: "Required value", detail });
