// The connections to the API server: a client per use, so that no use waits behind another. The check of the lease is
// in front of every write of the controllers.
import { hostname } from "node:os";
import { type Logger, systemClock } from "@firebolt-operator/kube";
import { createKubeClient, type KubeClient, type KubeClientOptions } from "@firebolt-operator/kube/client";
import { createLeaderElector, type LeaderElector, leaseStore } from "@firebolt-operator/kube/election";
import { createEventRecorder, type EventRecorder, type EventSink, eventWriter } from "@firebolt-operator/kube/events";
import type { RuntimeMetrics } from "@firebolt-operator/kube/metrics";
import { plainText } from "../api/values/plain-text.ts";
import { createGatewayClient } from "./gateway-readers.ts";
import type { ClientUse, ElectionOptions, OperatorOptions } from "./options.ts";

export interface Clients {
  /** For caches, events and requests at startup. */
  readonly work: KubeClient;
  /** For the controllers; shares the connections of `work`. */
  readonly reconcile: KubeClient;
  /** For what every replica does (token reviews, webhooks): writes without the lease. */
  readonly serving: KubeClient;
  /** For scraping gateways through the API server: one that hangs must not delay the controllers. */
  readonly demand: KubeClient;
  /** For probing pods through the API server: has as many sockets as there are probes at once. */
  readonly probes: KubeClient;
  readonly events: EventSink;
  /** Undefined when the events go elsewhere. */
  readonly recorder: EventRecorder | undefined;
  /** Undefined without an election: the process then reconciles at once. */
  readonly elector: LeaderElector | undefined;
  close(): void;
}

/** Opens no connection: each client does so with its first request. */
export function createClients(options: OperatorOptions, metrics: RuntimeMetrics): Clients {
  const { config, logger, build, overrides = {}, election } = options;
  const { wrapClient = (client: KubeClient) => client, onRequest } = overrides;
  const opened: KubeClient[] = [];
  let elector: LeaderElector | undefined;
  const open = (use: ClientUse, more: Partial<KubeClientOptions> = {}, create = createKubeClient): KubeClient => {
    const client = create({
      config,
      logger,
      // The audit log of the API server distinguishes the uses by this name.
      userAgent: `firebolt-operator/${build.version}${use === "work" ? "" : ` (${use})`}`,
      onRequest:
        onRequest === undefined
          ? metrics.request
          : (info) => {
              metrics.request(info);
              onRequest(info, use);
            },
      ...more,
    });
    opened.push(client);
    return wrapClient(client, use);
  };
  const work = open("work", {
    qps: options.qps ?? 0,
    burst: options.burst ?? 0,
    guardWrite: overrides.guardWrite ?? (() => elector?.assertLeading()),
  });
  const recorder = overrides.events === undefined ? createRecorder(work, logger) : undefined;
  const events = overrides.events ?? recorder ?? { record: () => undefined };
  if (election !== undefined) {
    const client = open("leader-election");
    elector = createElector(client, { election, logger, metrics, events });
  }
  return {
    work,
    reconcile: wrapClient(work, "reconcile"),
    serving: open("serving"),
    demand: open("wake-demand", {}, createGatewayClient),
    // The prober limits how many requests run at once; a second queue behind it would hide which request waits for
    // which.
    probes: open("query-probes", { maxSockets: Number.POSITIVE_INFINITY }),
    events,
    recorder,
    elector,
    close: () => {
      for (const client of opened) client.close();
    },
  };
}

function createRecorder(client: KubeClient, logger: Logger): EventRecorder {
  return createEventRecorder({
    writer: eventWriter(client),
    clock: systemClock,
    logger,
    reportingController: "firebolt.io/operator",
    reportingInstance: hostname(),
    plain: plainText,
  });
}

interface ElectorParts {
  readonly election: ElectionOptions;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly events: EventSink;
}

/**
 * The elector has a client of its own: renewals never queue behind other requests, and do not need the lease they
 * renew.
 */
function createElector(client: KubeClient, { election, ...parts }: ElectorParts): LeaderElector {
  const { namespace, name, timing, identity } = election;
  return createLeaderElector({
    store: leaseStore(client, { namespace, name }),
    timing,
    clock: systemClock,
    ...parts,
    ...(identity === undefined ? {} : { identity }),
  });
}
