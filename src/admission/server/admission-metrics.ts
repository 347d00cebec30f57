// The series of the webhook server, under the names that dashboards for controller-runtime use. Without a registry
// nothing is recorded. The series of its certificate are in src/metrics.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export interface AdmissionMetrics {
  started(path: string): void;
  /** `status` is that of the HTTP response; 0 when the connection was closed. */
  finished(path: string, status: number, durationMs: number): void;
}

export function createAdmissionMetrics(registry: Registry | undefined, paths: readonly string[]): AdmissionMetrics {
  if (registry === undefined) return silentAdmissionMetrics;
  const registers = [registry];
  const labelled = { registers, labelNames: ["webhook"] as const };
  const requests = new Counter({
    registers,
    name: "controller_runtime_webhook_requests_total",
    help: "Admission requests by webhook and HTTP status.",
    labelNames: ["webhook", "code"],
  });
  const seconds = new Histogram({
    ...labelled,
    name: "controller_runtime_webhook_latency_seconds",
    help: "Time from the arrival of an admission request to its response.",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const inFlight = new Gauge({
    ...labelled,
    name: "controller_runtime_webhook_requests_in_flight",
    help: "Admission requests in progress.",
  });
  for (const webhook of paths) {
    inFlight.set({ webhook }, 0);
    for (const code of ["200", "500"]) requests.inc({ webhook, code }, 0);
  }
  return {
    started: (webhook) => inFlight.inc({ webhook }),
    finished(webhook, status, durationMs) {
      inFlight.dec({ webhook });
      requests.inc({ webhook, code: String(status) });
      seconds.observe({ webhook }, durationMs / 1000);
    },
  };
}

const ignore = (): void => undefined;

/** Records nothing. */
export const silentAdmissionMetrics: AdmissionMetrics = { started: ignore, finished: ignore };
