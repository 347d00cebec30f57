// A foreign admission policy: a webhook on loopback that returns the same JSON patch for every creation of a
// StatefulSet in one namespace.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { createRoot, issueCertificate } from "@firebolt-operator/kube/certificates";
import type { InstanceCluster } from "./instance-cluster.ts";

export interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

/** In force, for as long as it is not disposed of. */
export async function startMutatingPolicy(
  { api }: Pick<InstanceCluster, "api">,
  namespace: string,
  operations: readonly PatchOperation[],
): Promise<AsyncDisposable> {
  const validity = { fromMs: Date.now() - 3_600_000, toMs: Date.now() + 86_400_000 };
  const root = createRoot({ commonName: "policy", ...validity });
  const leaf = issueCertificate(root, {
    commonName: "127.0.0.1",
    usages: ["server"],
    hosts: ["127.0.0.1"],
    ...validity,
  });
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { request: asked } = (await json(request)) as { request: { uid: string } };
    const verdict = { uid: asked.uid, allowed: true, patchType: "JSONPatch", patch };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: verdict }));
  };
  const server = createServer({ key: leaf.key, cert: leaf.certificate }, (request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(new Error("no response", { cause: error })));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
  const webhook = {
    name: "policy.example.com",
    clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(root.certificate).toString("base64") },
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    rules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["statefulsets"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const body = { metadata: { name: namespace }, webhooks: [webhook] };
  await api.expect({ method: "POST", path, body });
  return {
    async [Symbol.asyncDispose]() {
      await api.expect({ method: "DELETE", path: `${path}/${namespace}` });
      server.closeAllConnections();
      server.close();
    },
  };
}
