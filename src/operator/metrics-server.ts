// Adds the metrics server to the manager: plain HTTP, or HTTPS for scrapers that the API server authorizes.
import { hostname } from "node:os";
import { type Logger, systemClock } from "@firebolt-operator/kube";
import {
  type CertificateObserver,
  type CertificateSource,
  createCertificateFiles,
  createSelfSignedCertificate,
} from "@firebolt-operator/kube/certificates";
import type { KubeClient } from "@firebolt-operator/kube/client";
import type { Manager } from "@firebolt-operator/kube/controller";
import { createMetricsServer, METRICS_PATH, type MetricsServer } from "@firebolt-operator/kube/metrics";
import { createAccessReview } from "@firebolt-operator/kube/serving";
import type { MetricsOptions, SecureMetrics } from "./options.ts";

export interface MetricsServerParts {
  readonly metrics: MetricsOptions;
  /** For token and access reviews, which every replica sends. */
  readonly client: KubeClient;
  readonly observer: CertificateObserver;
  readonly logger: Logger;
}

/** Undefined: no address to listen on. */
export function addMetricsServer(manager: Manager, parts: MetricsServerParts): MetricsServer | undefined {
  const { metrics, logger } = parts;
  const { registry, listen, secure } = metrics;
  if (listen === undefined) return undefined;
  const plain = { ...listen, registry, logger };
  const server = createMetricsServer(secure === undefined ? plain : { ...plain, secure: secured(secure, parts) });
  manager.add(server);
  return server;
}

function secured(secure: SecureMetrics, parts: MetricsServerParts) {
  const access = createAccessReview({ client: parts.client, clock: systemClock, path: METRICS_PATH, verb: "get" });
  return { certificate: certificateOf(secure, parts), access, http2: secure.http2 };
}

function certificateOf({ certificate }: SecureMetrics, { observer, logger }: MetricsServerParts): CertificateSource {
  const clock = systemClock;
  if (certificate === undefined)
    return createSelfSignedCertificate({ hosts: [hostname(), "localhost"], clock, logger });
  return createCertificateFiles({ ...certificate, clock, logger, observer });
}
