// Observes why a component is not complete, from its pods. They are not watched: they are listed only while a
// Deployment or the database is not complete, and not for every event. An idle instance sends no request for it.
import type { Logger } from "@firebolt-operator/kube";
import { LABEL } from "../../api/labels.ts";
import { firstTrouble, type Pod, type TroubledPod } from "../../pods/pod-trouble.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { isComplete } from "../compute/readiness.ts";
import { observeVolume } from "../database/observe-volume.ts";
import type { InstanceMemory } from "../model/memory.ts";
import { gatewayName, type InstanceIdentity, metadataName, postgresName } from "../model/names.ts";
import { childOf, type InstanceSnapshot, type Troubles } from "../model/snapshot.ts";

/** Deployments change often while they roll. */
const TRUSTED_MS = 4_000;
/** The time that a first start needs anyway. */
const START_GRACE_MS = 5_000;

export interface TroublesInput extends Pick<InstanceSnapshot, "children" | "phase" | "nowMs" | "claim"> {
  readonly identity: InstanceIdentity;
  readonly memory: InstanceMemory;
  readonly logger: Logger;
}

export async function observeTroubles(
  cluster: Pick<InstanceCluster, "listPods" | "listWarnings" | "signal">,
  { children, identity, phase, nowMs, memory, logger, claim }: TroublesInput,
): Promise<Troubles> {
  const incomplete = (Object.keys(WORKLOADS) as Component[]).filter((component) => {
    const [kind, nameOf] = WORKLOADS[component];
    return !isComplete(childOf({ children }, kind, nameOf(identity.name)));
  });
  // Pods are not listed for an incomplete database alone: metadata loses its readiness with it, and then they are.
  if (incomplete.every((component) => component === "postgres")) {
    delete memory.pods;
    return {};
  }
  const known = memory.pods ?? { sinceMs: nowMs, listedMs: 0, troubles: {} };
  memory.pods = known;
  const isStarting = phase === undefined || phase === "Provisioning";
  if (isStarting && isWithin(START_GRACE_MS, known.sinceMs, nowMs)) return {};
  if (isWithin(TRUSTED_MS, known.listedMs, nowMs)) return known.troubles;
  // Without the pods only a cause is missing: the pass continues with what is known.
  const pods = await cluster.listPods(identity).catch((error: unknown) => {
    if (cluster.signal.aborted) throw error;
    logger.error("pods of the instance could not be listed", error);
    return undefined;
  });
  if (pods === undefined) {
    memory.pods = { ...known, listedMs: nowMs };
    return known.troubles;
  }
  const ofPods: Troubles = Object.fromEntries(
    incomplete.flatMap((component): [Component, TroubledPod][] => {
      const found = firstTrouble(pods.filter(isOf(component)), nowMs);
      return found === undefined ? [] : [[component, found]];
    }),
  );
  const volume =
    ofPods.postgres === undefined
      ? undefined
      : await observeVolume(cluster, { claim, identity, nowMs, memory, logger });
  const troubles = { ...ofPods, ...(volume === undefined ? {} : { volume }) };
  memory.pods = { ...known, listedMs: nowMs, troubles };
  return troubles;
}

/** A clock that was set back does not make anything recent again. */
const isWithin = (ms: number, sinceMs: number, nowMs: number): boolean => nowMs >= sinceMs && nowMs - sinceMs < ms;

type Component = Exclude<keyof Troubles, "volume">;

const WORKLOADS = {
  postgres: ["StatefulSet", postgresName],
  metadata: ["Deployment", metadataName],
  gateway: ["Deployment", gatewayName],
} as const satisfies Record<Component, readonly ["StatefulSet" | "Deployment", (instance: string) => string]>;

function isOf(component: Component): (pod: Pod) => boolean {
  return ({ metadata }) => metadata?.labels?.[LABEL.component] === component;
}
