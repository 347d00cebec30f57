// Waits until the API server serves the three Firebolt kinds, so that an operator installed together with its CRDs need
// not restart.
import { type Clock, isNotFound, type Logger, sleep } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { ENGINE_CLASS_NAMES, ENGINE_NAMES, GROUP, INSTANCE_NAMES, VERSION } from "../api/group.ts";

const RETRY_MS = 10_000;
const GIVE_UP_AFTER_MS = 120_000;
const WANTED = [INSTANCE_NAMES.plural, ENGINE_NAMES.plural, ENGINE_CLASS_NAMES.plural];

export interface CrdDiscovery {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Resolves when all three kinds are served. Rejects after two minutes, or at once when the API server is unreachable.
 */
export async function waitForCrds({ client, clock, logger, signal }: CrdDiscovery): Promise<void> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    const missing = await missingKinds(client, signal);
    if (missing.length === 0) return;
    if (clock.monotonicMs() - startedMs >= GIVE_UP_AFTER_MS) {
      throw new Error(
        `the API server does not serve ${missing.join(", ")} in ${GROUP}/${VERSION}: install the CRDs (firebolt-operator crds | kubectl apply --server-side -f -)`,
      );
    }
    logger.info("waiting for custom resource definitions", { missing, retrySeconds: RETRY_MS / 1000 });
    await sleep(clock, RETRY_MS, signal);
  }
}

async function missingKinds(client: KubeClient, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const response = await client.request({ method: "GET", path: `/apis/${GROUP}/${VERSION}`, signal });
    const served = servedPlurals(response);
    return WANTED.filter((plural) => !served.has(plural));
  } catch (error) {
    if (isNotFound(error)) return WANTED;
    throw error;
  }
}

/** The plurals in an APIResourceList; empty for a response of another shape. */
function servedPlurals(response: unknown): ReadonlySet<string> {
  const resources =
    typeof response === "object" && response !== null && "resources" in response ? response.resources : [];
  if (!Array.isArray(resources)) return new Set();
  return new Set(
    resources.flatMap((resource: { name?: unknown }) => (typeof resource?.name === "string" ? [resource.name] : [])),
  );
}
