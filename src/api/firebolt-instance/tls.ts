// TLS on the listeners of an instance: `spec.tls`. Not available yet: `enabled: true` is rejected. The fields are
// complete, so that manifests that keep it disabled are accepted.

import { INSTANCE_DEFAULTS } from "../defaults.ts";
import { rejectEnabling } from "../schema/availability.ts";
import { array, boolean, object, string } from "../schema/builders.ts";
import { localRef } from "../schema/references.ts";
import type { CelRule, Infer } from "../schema/schema.ts";
import { certManager } from "./cert-manager.ts";

interface ListenerOptions {
  readonly field: "gateway" | "engine";
  readonly feature: string;
  readonly description: string;
  readonly rules?: readonly CelRule[];
}

const listener = ({ field, feature, ...options }: ListenerOptions) =>
  object(
    {
      enabled: boolean({
        description: "Turns TLS on for this listener. Not available yet.",
        default: false,
        rules: [rejectEnabling(`spec.tls.${field}.enabled`, feature)],
      }),
      certManager: certManager({
        description:
          "Certificate issued by cert-manager. When enabled, exactly one of certManager and secretRef is needed.",
        lifetimes: INSTANCE_DEFAULTS.tlsCertificate,
      }),
      secretRef: localRef("Secret with the keys tls.crt and tls.key. Gateway only."),
      clientCASecretRef: localRef(
        "Secret with the key ca.crt: clients must present a certificate of this CA. Gateway only.",
      ),
      crlSecretRef: localRef(
        "Secret with the key crl.pem: revoked certificates. On the gateway it needs clientCASecretRef.",
      ),
      dnsNames: array(string({ description: "A DNS name." }), {
        description: "Further names in the gateway's certificate. Ignored for engines.",
      }),
    },
    options,
  );

export const instanceTls = object(
  {
    gateway: listener({
      field: "gateway",
      feature: "TLS on the gateway",
      description: "The listener that clients connect to.",
    }),
    engine: listener({
      field: "engine",
      feature: "TLS on the engines",
      description: "The listener that the gateway connects to.",
      rules: [
        {
          rule: "[self, oldSelf].exists(l, !l.enabled || !has(l.certManager)) || self.certManager.issuerRef == oldSelf.certManager.issuerRef",
          message: "issuerRef cannot change while TLS on the engines is enabled; disable it first",
          fieldPath: ".certManager.issuerRef",
        },
      ],
    }),
  },
  { description: "TLS on the gateway and on the engines." },
);
export type InstanceTls = Infer<typeof instanceTls>;
export type TlsListener = NonNullable<InstanceTls["gateway"]>;
