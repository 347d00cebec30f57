// The ways to the API server: one client for the work, one for the lease, and the recorder of events. The fence of the
// lease is put in front of every write here.
import { hostname } from "node:os";
import { type Logger, systemClock } from "@firebolt-operator/kube";
import { type ClusterConfig, createKubeClient, type KubeClient } from "@firebolt-operator/kube/client";
import {
  createLeaderElector,
  type ElectionTiming,
  type LeaderElector,
  leaseStore,
  validateElectionTiming,
} from "@firebolt-operator/kube/election";
import { createEventRecorder, type EventRecorder, eventWriter } from "@firebolt-operator/kube/events";
import type { RuntimeMetrics } from "@firebolt-operator/kube/metrics";
import { plainText } from "../api/plain-text.ts";
import { UsageError } from "./flags.ts";
import type { ManagerFlags } from "./manager-flags.ts";
import { VERSION } from "./version.ts";
import { createDemandClient } from "./wake-demand.ts";

const USER_AGENT = `firebolt-operator/${VERSION}`;

export interface Connections {
  readonly client: KubeClient;
  /** For what every replica does (token reviews, webhooks): not subject to the fence of the lease. */
  readonly unfenced: KubeClient;
  /** For asking gateways through the API server: one that hangs must not hold up the work. Opens nothing until it is used. */
  readonly demand: KubeClient;
  /** For probing pods through the API server: has as many sockets as there are probes at once. Opens nothing until it is used. */
  readonly probes: KubeClient;
  readonly recorder: EventRecorder;
  /** Absent without --leader-elect: the process then works at once. */
  readonly elector: LeaderElector | undefined;
}

export interface ConnectOptions {
  readonly flags: ManagerFlags;
  readonly config: ClusterConfig;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

export function connect(options: ConnectOptions): Connections {
  const { flags, config, metrics, logger } = options;
  let elector: LeaderElector | undefined;
  const client = createKubeClient({
    config,
    logger,
    userAgent: USER_AGENT,
    qps: flags["kube-api-qps"],
    burst: flags["kube-api-burst"],
    onRequest: metrics.request,
    guardWrite: () => elector?.assertLeading(),
  });
  const recorder = createEventRecorder({
    writer: eventWriter(client),
    clock: systemClock,
    logger,
    reportingController: "firebolt.io/operator",
    reportingInstance: hostname(),
    plain: plainText,
  });
  if (flags["leader-elect"]) elector = buildElector(options, recorder);
  // The API server's audit log tells by its name what the servers ask from what the work asks.
  const unfenced = createKubeClient({
    config,
    logger,
    userAgent: `${USER_AGENT} (serving)`,
    onRequest: metrics.request,
  });
  const demand = createDemandClient({
    config,
    logger,
    userAgent: `${USER_AGENT} (wake-demand)`,
    onRequest: metrics.request,
  });
  const probes = createKubeClient({
    config,
    logger,
    userAgent: `${USER_AGENT} (query-probes)`,
    onRequest: metrics.request,
    // The prober limits how many requests run at once; a second queue behind it would only hide who waits for whom.
    maxSockets: Number.POSITIVE_INFINITY,
  });
  return { client, unfenced, demand, probes, recorder, elector };
}

/** The operator's own namespace, where its lease and its certificates are. */
export function ownNamespace(flags: ManagerFlags, config: ClusterConfig): string | undefined {
  return flags["leader-election-namespace"] || config.namespace;
}

/** The elector has a client of its own: renewals never queue behind other calls, and are not subject to the fence they feed. */
function buildElector({ flags, config, metrics, logger }: ConnectOptions, events: EventRecorder): LeaderElector {
  const namespace = ownNamespace(flags, config);
  if (!namespace)
    throw new UsageError(
      "--leader-election-namespace is required out of cluster: neither a pod nor the kubeconfig context names a namespace",
    );
  const client = createKubeClient({
    config,
    logger,
    userAgent: `${USER_AGENT} (leader-election)`,
    onRequest: metrics.request,
  });
  const store = leaseStore(client, { namespace, name: flags["leader-election-id"] });
  return createLeaderElector({ store, timing: electionTiming(flags), clock: systemClock, logger, metrics, events });
}

/** The problems with the election flags, each naming its flags. */
export function electionProblems(flags: ManagerFlags): readonly string[] {
  return flags["leader-elect"] ? validateElectionTiming(electionTiming(flags)) : [];
}

function electionTiming(flags: ManagerFlags): ElectionTiming {
  return {
    leaseMs: flags["leader-election-lease-duration"],
    renewDeadlineMs: flags["leader-election-renew-deadline"],
    retryMs: flags["leader-election-retry-period"],
  };
}
