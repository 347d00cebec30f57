// One replica of the webhook server with certificates of its own making, as the manager would run it: a client of its own, the
// shared Secret, the two configurations named after the namespace.
import { type Clock, silentLogger, systemClock } from "@firebolt-operator/kube";
import {
  type CertificateSource,
  createManagedCertificate,
  type ServingPair,
} from "@firebolt-operator/kube/certificates";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@firebolt-operator/kube/kinds";
import { silentAdmissionMetrics } from "../../../src/admission/server/admission-metrics.ts";
import { createAdmissionServer } from "../../../src/admission/server/admission-server.ts";
import { createValidators } from "../../../src/admission/validators/create-validators.ts";
import { kubeLookups } from "../../../src/admission/validators/lookups.ts";
import { testClient } from "../../harness/control-plane/test-client.ts";

export const SECRET = "webhook-cert";

export interface Replica extends AsyncDisposable {
  readonly port: number;
  readonly certificate: CertificateSource;
  /** Every pair it has shown, oldest first. */
  readonly shown: readonly ServingPair[];
}

export async function startReplica(namespace: string, clock: Clock = systemClock): Promise<Replica> {
  const client = await testClient();
  const certificate = createManagedCertificate({
    client,
    secret: { namespace, name: SECRET },
    hosts: ["hooks.system.svc", "127.0.0.1"],
    trust: [
      { type: MutatingWebhookConfiguration, name: namespace },
      { type: ValidatingWebhookConfiguration, name: namespace },
    ],
    fieldManager: "test",
    clock,
    logger: silentLogger,
  });
  const shown: ServingPair[] = [];
  certificate.onPair((pair) => shown.push(pair));
  const server = createAdmissionServer({
    host: "127.0.0.1",
    port: 0,
    certificate,
    validators: createValidators({
      lookups: kubeLookups(client),
      bounds: {},
      clock: systemClock,
      logger: silentLogger,
    }),
    clock: systemClock,
    logger: silentLogger,
    metrics: silentAdmissionMetrics,
    overlapMs: 0,
  });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  await Promise.race([running, server.whenReady?.(stop.signal)]);
  return {
    port: server.port ?? 0,
    certificate,
    shown,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      client.close();
    },
  };
}
