// The shared control plane of the integration tests: requests as its administrator, and a namespace for each test.
import * as testing from "@firebolt-operator/kube/testing";
import { inject } from "vitest";

export { eventually, requestAs, uniqueNamespace } from "@firebolt-operator/kube/testing";

/** One request as administrator of the shared control plane. */
export function adminRequest(
  request: testing.ApiRequest,
  accept: readonly number[] = [],
): Promise<testing.ApiResponse> {
  return testing.requestAs(inject("adminKubeconfig"), request, accept);
}

/** Creates a namespace that no other test uses; returns its name. */
export function createNamespace(prefix: string, kubeconfig = inject("adminKubeconfig")): Promise<string> {
  return testing.createNamespace(kubeconfig, prefix);
}
