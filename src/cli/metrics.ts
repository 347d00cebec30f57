// Puts the metrics server into the manager as the flags say: plain, or over HTTPS for scrapers that the API server lets in.
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
import { createMetricsServer, METRICS_PATH } from "@firebolt-operator/kube/metrics";
import { createAccessReview } from "@firebolt-operator/kube/serving";
import type { Registry } from "prom-client";
import { listenAddress, type ManagerFlags } from "./manager-flags.ts";

export interface MetricsServerParts {
  readonly flags: ManagerFlags;
  readonly registry: Registry;
  /** Asks about tokens in every replica. */
  readonly client: KubeClient;
  readonly observer: CertificateObserver;
  readonly logger: Logger;
}

export function addMetricsServer(manager: Manager, parts: MetricsServerParts): void {
  const { flags, registry, client, logger } = parts;
  const address = listenAddress(flags["metrics-bind-address"]);
  if (address === undefined) return;
  const plain = { ...address, registry, logger };
  if (!flags["metrics-secure"]) {
    manager.add(createMetricsServer(plain));
    return;
  }
  const access = createAccessReview({ client, clock: systemClock, path: METRICS_PATH, verb: "get" });
  const secure = { certificate: certificateOf(parts), access, http2: flags["enable-http2"] };
  manager.add(createMetricsServer({ ...plain, secure }));
}

function certificateOf({ flags, observer, logger }: MetricsServerParts): CertificateSource {
  const folder = flags["metrics-cert-path"];
  const clock = systemClock;
  if (folder === "") return createSelfSignedCertificate({ hosts: [hostname(), "localhost"], clock, logger });
  const [certificateName, keyName] = [flags["metrics-cert-name"], flags["metrics-cert-key"]];
  return createCertificateFiles({ folder, certificateName, keyName, clock, logger, observer });
}
