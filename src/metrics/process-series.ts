// Series about the program itself: which build runs, the certificates it serves with, and how asking the gateways for demand goes
// (docs/monitoring.md#operator-metrics). The runtime's own series are in packages/kube/src/metrics/runtime.ts.
import type { CertificateObserver } from "@firebolt-operator/kube/certificates";
import { Counter, Gauge, type Registry } from "prom-client";

export interface Build {
  readonly version: string;
  readonly revision: string;
  /** As `process.version` says it. */
  readonly nodeVersion: string;
}

export function recordBuild(registry: Registry, { version, revision, nodeVersion }: Build): void {
  new Gauge({
    registers: [registry],
    name: "firebolt_operator_build_info",
    help: "1, with the version that runs.",
    labelNames: ["version", "revision", "node_version"],
  }).set({ version, revision, node_version: nodeVersion }, 1);
}

export interface CertificateMetrics {
  /** For the pair of the webhook server. */
  readonly webhook: CertificateObserver;
  /** For the pair of the metrics server: counted together with the other one, without an end of its own. */
  readonly metrics: CertificateObserver;
}

export const noCertificateMetrics: CertificateMetrics = { webhook: {}, metrics: {} };

export function createCertificateMetrics(registry: Registry): CertificateMetrics {
  const registers = [registry];
  const reads = new Counter({
    registers,
    name: "certwatcher_read_certificate_total",
    help: "Times a serving certificate was looked at.",
  });
  const errors = new Counter({
    registers,
    name: "certwatcher_read_certificate_errors_total",
    help: "Times a serving certificate was missing or unusable.",
  });
  let expiry: Gauge | undefined;
  const metrics: CertificateObserver = { read: () => reads.inc(), failed: () => errors.inc() };
  return {
    metrics,
    webhook: {
      ...metrics,
      loaded({ expiresMs }) {
        // Not before there is a certificate: an end of 0 would read as one that passed long ago.
        expiry ??= new Gauge({
          registers,
          name: "firebolt_operator_webhook_certificate_expiry_timestamp",
          help: "When the certificate of the webhook server ends, in seconds since the epoch.",
        });
        expiry.set(expiresMs / 1000);
      },
    },
  };
}

/** What the poll of the gateways' demand pages tells. */
export interface DemandMetrics {
  /** The demand page of a gateway in this namespace could not be read. */
  scrapeFailed(namespace: string): void;
}

export const noDemandMetrics: DemandMetrics = { scrapeFailed: () => undefined };

export function createDemandMetrics(registry: Registry): DemandMetrics {
  const errors = new Counter({
    registers: [registry],
    name: "firebolt_operator_demand_scrape_errors_total",
    help: "Demand pages of gateways that could not be read.",
    labelNames: ["namespace"],
  });
  return { scrapeFailed: (namespace) => errors.inc({ namespace }) };
}
