// Puts the metrics server into the manager as the flags say: plain, or over HTTPS for scrapers that the API server lets in.
import { hostname } from "node:os";
import type { Registry } from "prom-client";
import { createAccessReview } from "../kube/access-review.ts";
import { createCertificateFiles } from "../kube/certificate-files.ts";
import type { KubeClient } from "../kube/client.ts";
import { systemClock } from "../kube/clock.ts";
import type { Logger } from "../kube/logger.ts";
import type { Manager } from "../kube/manager.ts";
import { createMetricsServer, METRICS_PATH } from "../kube/metrics-server.ts";
import { createSelfSignedCertificate } from "../kube/self-signed-certificate.ts";
import type { CertificateObserver, CertificateSource } from "../kube/serving-certificate.ts";
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
