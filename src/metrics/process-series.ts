// Series about the program itself: its build, its serving certificates, and failed scrapes of gateway demand
// (docs/monitoring.md#operator-metrics). The runtime's own series are in packages/kube/src/metrics/runtime.ts.
import type { CertificateObserver } from "@firebolt-operator/kube/certificates";
import { Counter, Gauge, type Registry } from "prom-client";

export interface Build {
  readonly version: string;
  readonly revision: string;
  /** `process.version`. */
  readonly nodeVersion: string;
}

export function recordBuild(registry: Registry, { version, revision, nodeVersion }: Build): void {
  new Gauge({
    registers: [registry],
    name: "firebolt_operator_build_info",
    help: "Information about the running version; always 1.",
    labelNames: ["version", "revision", "node_version"],
  }).set({ version, revision, node_version: nodeVersion }, 1);
}

export interface CertificateMetrics {
  /** For the certificate of the webhook server. */
  readonly webhook: CertificateObserver;
  /** For the certificate of the metrics server: counted together with the other one, without an expiry of its own. */
  readonly metrics: CertificateObserver;
}

export const noCertificateMetrics: CertificateMetrics = { webhook: {}, metrics: {} };

export function createCertificateMetrics(registry: Registry): CertificateMetrics {
  const registers = [registry];
  const reads = new Counter({
    registers,
    name: "certwatcher_read_certificate_total",
    help: "Reads of a serving certificate.",
  });
  const errors = new Counter({
    registers,
    name: "certwatcher_read_certificate_errors_total",
    help: "Reads that found a serving certificate missing or unusable.",
  });
  let expiry: Gauge | undefined;
  const metrics: CertificateObserver = { read: () => reads.inc(), failed: () => errors.inc() };
  return {
    metrics,
    webhook: {
      ...metrics,
      loaded({ expiresMs }) {
        // Declared with the first certificate: an expiry of 0 would look like an expired one.
        expiry ??= new Gauge({
          registers,
          name: "firebolt_operator_webhook_certificate_expiry_timestamp",
          help: "Expiry of the certificate of the webhook server, in seconds since the epoch.",
        });
        expiry.set(expiresMs / 1000);
      },
    },
  };
}

/** Metrics hooks of the demand poll. */
export interface DemandMetrics {
  /** The demand endpoint of a gateway in this namespace could not be scraped. */
  scrapeFailed(namespace: string): void;
}

export const noDemandMetrics: DemandMetrics = { scrapeFailed: () => undefined };

export function createDemandMetrics(registry: Registry): DemandMetrics {
  const errors = new Counter({
    registers: [registry],
    name: "firebolt_operator_demand_scrape_errors_total",
    help: "Failed scrapes of the demand endpoint of gateways.",
    labelNames: ["namespace"],
  });
  return { scrapeFailed: (namespace) => errors.inc({ namespace }) };
}
