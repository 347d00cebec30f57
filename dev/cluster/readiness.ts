// When the local cluster can be used: pods can be scheduled on its node, and the first Service is reached by its address, which takes
// kube-proxy's rules. (CoreDNS has responded by then: its start waits for that.)
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { isSchedulable } from "../control-plane/nodes.ts";
import { API_SERVICE_ADDRESS } from "./addresses.ts";

const DEADLINE_MS = 90_000;
const TRY_DEADLINE_MS = 2_000;
const POLL_MS = 100;

export interface UsableInput {
  readonly api: Api;
  readonly kubeconfig: string;
  readonly nodeName: string;
  readonly signal: AbortSignal | undefined;
}

export async function waitUntilUsable({ api, kubeconfig, nodeName, signal }: UsableInput): Promise<void> {
  const path = `/api/v1/nodes/${nodeName}`;
  await until(`node ${nodeName} to be ready`, signal, async (limit) => {
    return isSchedulable((await api.expect({ path, signal: limit })).body);
  });
  const service = openApiFromKubeconfig(kubeconfig, `https://${API_SERVICE_ADDRESS}`);
  try {
    await until(`the API server to be reached at its ClusterIP ${API_SERVICE_ADDRESS}`, signal, async (limit) => {
      return (await service.send({ path: "/readyz", signal: limit })).status === 200;
    });
  } finally {
    service.close();
  }
}

async function until(
  what: string,
  signal: AbortSignal | undefined,
  check: (limit: AbortSignal) => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  let failure: unknown;
  while (performance.now() < deadline) {
    signal?.throwIfAborted();
    try {
      if (await check(AbortSignal.timeout(TRY_DEADLINE_MS))) return;
    } catch (error) {
      // Absence is expected while waiting; the last failure is reported on a timeout.
      failure = error;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`timed out after ${DEADLINE_MS / 1000} s waiting for ${what}`, { cause: failure });
}
