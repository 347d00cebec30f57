// The instance controller as a value: its watches, the mapping of events to instances, and the reconcile function.
// Wiring only.
import type { Clock } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { type Controller, watch } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import { PrunedStatus } from "@firebolt-operator/kube/reconcile";
import type { OperatorDefaults } from "../api/operator-defaults.ts";
import type { InstanceCaches } from "./cluster/instance-caches.ts";
import { kubeInstanceCluster } from "./cluster/kube-cluster.ts";
import { childWatches, instanceOfInstanceEvent, instanceReleasedBy } from "./cluster/triggers.ts";
import { type InstanceMetrics, noInstanceMetrics } from "./metrics-hooks.ts";
import { InstanceMemories } from "./model/memory.ts";
import { runInstancePass } from "./pass/pass.ts";
import type { RenderSettings } from "./render/instance-objects.ts";

export interface InstanceControllerDeps {
  readonly client: KubeClient;
  readonly caches: InstanceCaches;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly defaults: Pick<OperatorDefaults, "images">;
  /**
   * Default: the format that the default image reads, no wake agent, a Role per instance, the runtime's seccomp
   * profile.
   */
  readonly rendering?: Omit<Partial<RenderSettings>, "images">;
  readonly metrics?: InstanceMetrics;
  /** Instances reconciled at the same time. */
  readonly concurrency?: number;
}

const DEFAULT_CONCURRENCY = 4;

export function instanceController(deps: InstanceControllerDeps): Controller {
  const { client, caches, clock, events, defaults, metrics = noInstanceMetrics } = deps;
  const settings: RenderSettings = { metadataConfigFormat: "xml", ...deps.rendering, images: defaults.images };
  const memories = new InstanceMemories();
  const pruned = new PrunedStatus(["observedResetFailed", "reported"]);
  return {
    name: "fireboltinstance",
    concurrency: deps.concurrency ?? DEFAULT_CONCURRENCY,
    watches: [
      watch(caches.instances, instanceOfInstanceEvent),
      watch(caches.engines, (event) => instanceReleasedBy(event, caches)),
      ...childWatches(caches.children),
    ],
    reconcile({ namespace = "", name }, signal, { logger }) {
      if (caches.instances.get({ namespace, name }) === undefined) pruned.forget(namespace, name);
      const cluster = kubeInstanceCluster({ client, caches, signal, pruned, logger });
      const nowMs = () => clock.now();
      return runInstancePass(cluster, { namespace, name }, { settings, memories, nowMs, events, metrics, logger });
    },
  };
}
