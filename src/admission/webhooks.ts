// Everything behind `--enable-webhooks` as one part of the manager: certificate, rules, server. Reads neither flags nor
// the environment.
import { join } from "node:path";
import type { Clock, Logger } from "@firebolt-operator/kube";
import {
  type CertificateObserver,
  type CertificateSource,
  createCertificateFiles,
  createManagedCertificate,
} from "@firebolt-operator/kube/certificates";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@firebolt-operator/kube/kinds";
import type { Registry } from "prom-client";
import { FIELD_MANAGER } from "../api/group.ts";
import type { OperatorIdentity } from "../api/operator-defaults.ts";
import type { ResourceBounds } from "../engine/model/validate.ts";
import { HOOKS } from "./registration/hooks.ts";
import { serviceHosts } from "./registration/webhook-configurations.ts";
import { createAdmissionMetrics } from "./server/admission-metrics.ts";
import { type AdmissionServer, createAdmissionServer } from "./server/admission-server.ts";
import { createValidators } from "./validators/create-validators.ts";
import { kubeLookups } from "./validators/lookups.ts";

/** Where the serving certificate comes from: `--webhook-cert-mode`. */
export type CertificateMode =
  | {
      readonly type: "files";
      readonly folder: string;
      readonly certificateName: string;
      readonly keyName: string;
      /** Default 60 s. */
      readonly startTimeoutMs?: number;
    }
  | {
      readonly type: "self-managed";
      readonly secret: { readonly namespace: string; readonly name: string };
      /** The Service through which the API server calls. */
      readonly service: { readonly namespace: string; readonly name: string };
      /** The configuration whose CA bundle is kept up to date; empty: none. */
      readonly mutatingConfiguration: string;
      readonly validatingConfiguration: string;
    };

export interface WebhooksOptions {
  /** Absent: all addresses. */
  readonly host?: string;
  readonly port: number;
  readonly http2: boolean;
  readonly certificate: CertificateMode;
  readonly bounds: ResourceBounds;
  /** The operator's own account and Secrets; absent where they are unknown. */
  readonly operator?: OperatorIdentity | undefined;
  /** Reads for look-ups and, when self-managed, writes in every replica: not the client that writes under the lease. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent: nothing is recorded. */
  readonly registry: Registry | undefined;
  readonly certificateObserver?: CertificateObserver;
}

/** The folder of the certificate when no flag names one. */
export const defaultCertificateFolder = (temporaryFolder: string): string =>
  join(temporaryFolder, "k8s-webhook-server", "serving-certs");

export function createWebhooks(options: WebhooksOptions): AdmissionServer {
  const { host, port, http2, bounds, operator, client, clock, logger, registry } = options;
  const metrics = createAdmissionMetrics(
    registry,
    HOOKS.map(({ path }) => path),
  );
  return createAdmissionServer({
    port,
    http2,
    ...(host === undefined ? {} : { host }),
    certificate: sourceOf(options, options.certificateObserver ?? {}),
    validators: createValidators({ lookups: kubeLookups(client), bounds, clock, logger, operator }),
    clock,
    logger,
    metrics,
  });
}

function sourceOf(
  { certificate, client, clock, logger }: WebhooksOptions,
  observer: CertificateObserver,
): CertificateSource {
  if (certificate.type === "files") {
    const { type: _type, ...files } = certificate;
    return createCertificateFiles({ ...files, clock, logger, observer });
  }
  const { secret, service, mutatingConfiguration, validatingConfiguration } = certificate;
  return createManagedCertificate({
    client,
    secret,
    hosts: serviceHosts(service.namespace, service.name),
    trust: [
      { type: MutatingWebhookConfiguration, name: mutatingConfiguration },
      { type: ValidatingWebhookConfiguration, name: validatingConfiguration },
    ].filter(({ name }) => name !== ""),
    fieldManager: FIELD_MANAGER,
    clock,
    logger,
    observer,
  });
}
