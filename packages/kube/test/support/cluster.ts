// The shared control plane of the integration tests: a namespace per test, and waiting for conditions.
import { inject } from "vitest";
import * as testing from "../../src/testing/namespaces.ts";

export { eventually } from "../../src/testing/eventually.ts";
export { uniqueNamespace } from "../../src/testing/namespaces.ts";

/** Creates a namespace that no other test uses; returns its name. */
export function createNamespace(prefix: string, kubeconfig = inject("adminKubeconfig")): Promise<string> {
  return testing.createNamespace(kubeconfig, prefix);
}
