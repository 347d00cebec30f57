// The flags of the admission webhooks and of their certificate.
import { oneOf, port } from "./flag-checks.ts";
import type { FlagTable } from "./flag-table.ts";

export const WEBHOOK_FLAGS = {
  "enable-webhooks": { type: "boolean", default: "true", help: "serve the admission webhooks" },
  "webhook-port": { type: "integer", default: "9443", help: "port of the webhook server", check: port },
  "webhook-cert-mode": {
    type: "string",
    default: "files",
    help: "files: read the certificate from a folder; self-managed: the operator creates and rotates it",
    check: oneOf("files", "self-managed"),
  },
  "webhook-cert-path": {
    type: "string",
    default: "",
    help: "files: folder of the certificate; empty: k8s-webhook-server/serving-certs in the temporary folder",
  },
  "webhook-cert-name": { type: "string", default: "tls.crt", help: "files: file name of the certificate" },
  "webhook-cert-key": { type: "string", default: "tls.key", help: "files: file name of the key" },
  "webhook-cert-secret": { type: "string", default: "", help: "self-managed: Secret that holds the certificate" },
  "webhook-service": { type: "string", default: "", help: "self-managed: Service through which the API server calls" },
  "webhook-configuration": {
    type: "string",
    default: "",
    help: "self-managed: name of the two webhook configurations whose CA bundle the operator keeps up to date; empty: none",
  },
} as const satisfies FlagTable;
