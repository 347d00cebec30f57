// The flags of the admission webhooks, and the server they describe put into the manager.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { type Logger, systemClock } from "@firebolt-operator/kube";
import type { CertificateObserver } from "@firebolt-operator/kube/certificates";
import type { KubeClient } from "@firebolt-operator/kube/client";
import type { Manager } from "@firebolt-operator/kube/controller";
import type { Registry } from "prom-client";
import { type CertificateMode, createWebhooks, defaultCertificateFolder } from "../admission/webhooks.ts";
import type { OperatorIdentity } from "../api/operator-defaults.ts";
import type { ResourceBounds } from "../engine/validate.ts";
import { oneOf, port } from "./flag-checks.ts";
import { type FlagTable, type FlagValues, UsageError } from "./flags.ts";

export const WEBHOOK_FLAGS = {
  "enable-webhooks": { type: "boolean", default: "true", help: "serve the admission webhooks" },
  "webhook-port": { type: "integer", default: "9443", help: "port of the webhook server", check: port },
  "webhook-cert-mode": {
    type: "string",
    default: "files",
    help: "files: a certificate from a folder; self-managed: the operator makes and rotates it",
    check: oneOf("files", "self-managed"),
  },
  "webhook-cert-path": {
    type: "string",
    default: "",
    help: "files: folder of the certificate; empty means k8s-webhook-server/serving-certs in the temporary folder",
  },
  "webhook-cert-name": { type: "string", default: "tls.crt", help: "files: file name of the certificate" },
  "webhook-cert-key": { type: "string", default: "tls.key", help: "files: file name of its key" },
  "webhook-cert-secret": { type: "string", default: "", help: "self-managed: Secret that holds the certificate" },
  "webhook-service": { type: "string", default: "", help: "self-managed: Service through which the API server calls" },
  "webhook-configuration": {
    type: "string",
    default: "",
    help: "self-managed: name of both webhook configurations whose CA bundle is kept; empty leaves them alone",
  },
} as const satisfies FlagTable;

type WebhookFlags = FlagValues<typeof WEBHOOK_FLAGS>;

export interface WebhookParts {
  readonly flags: WebhookFlags & { readonly "enable-http2": boolean };
  /** Where the Secret and the Service are: the operator's own namespace. */
  readonly namespace: string | undefined;
  readonly inCluster: boolean;
  readonly bounds: ResourceBounds;
  readonly operator: OperatorIdentity | undefined;
  /** Every replica serves, so it is not the client that only the leader may write with. */
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly registry: Registry | undefined;
  readonly certificateObserver: CertificateObserver;
}

export function addWebhooks(manager: Manager, parts: WebhookParts): void {
  const { flags, bounds, operator, client, logger, registry, certificateObserver } = parts;
  if (!flags["enable-webhooks"]) return;
  const certificate = certificateOf(parts);
  if (certificate.type === "files" && !parts.inCluster && !existsSync(certificate.folder)) {
    // On somebody's own machine no API server could reach them, and waiting for a certificate would end the process.
    logger.info("no admission webhooks: out of cluster, and there is no certificate", { folder: certificate.folder });
    return;
  }
  const http2 = flags["enable-http2"];
  const shared = { bounds, operator, client, clock: systemClock, logger, registry, certificateObserver };
  manager.add(createWebhooks({ ...shared, port: flags["webhook-port"], http2, certificate }));
}

function certificateOf({ flags, namespace }: WebhookParts): CertificateMode {
  if (flags["webhook-cert-mode"] === "files") {
    const folder = flags["webhook-cert-path"] || defaultCertificateFolder(tmpdir());
    const [certificateName, keyName] = [flags["webhook-cert-name"], flags["webhook-cert-key"]];
    return { type: "files", folder, certificateName, keyName };
  }
  const [secret, service] = [flags["webhook-cert-secret"], flags["webhook-service"]];
  if (secret === "" || service === "" || !namespace)
    throw new UsageError(
      "--webhook-cert-mode=self-managed needs --webhook-cert-secret, --webhook-service and, out of cluster, --leader-election-namespace",
    );
  const configuration = flags["webhook-configuration"];
  return {
    type: "self-managed",
    secret: { namespace, name: secret },
    service: { namespace, name: service },
    mutatingConfiguration: configuration,
    validatingConfiguration: configuration,
  };
}
