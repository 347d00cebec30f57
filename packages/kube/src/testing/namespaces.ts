// A namespace for each test, and single requests with the credentials of any kubeconfig.
import { randomBytes } from "node:crypto";
import { type ApiRequest, type ApiResponse, openApiFromKubeconfig } from "./control-plane/api-request.ts";

/** One request with the credentials of this kubeconfig; fails unless the status is 2xx or one of `accept`. */
export async function requestAs(
  kubeconfig: string,
  request: ApiRequest,
  accept: readonly number[] = [],
): Promise<ApiResponse> {
  const api = openApiFromKubeconfig(kubeconfig);
  try {
    return await api.expect(request, accept);
  } finally {
    api.close();
  }
}

/** A namespace name that no other test uses. */
export function uniqueNamespace(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString("hex")}`;
}

/** Creates a namespace that no other test uses; returns its name. */
export async function createNamespace(kubeconfig: string, prefix: string): Promise<string> {
  const name = uniqueNamespace(prefix);
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await requestAs(kubeconfig, { method: "POST", path: "/api/v1/namespaces", body });
  return name;
}
