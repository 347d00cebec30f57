// The instance controller on a real control plane, in this process: its own client, caches and queue, every request
// counted.
import { inspect } from "node:util";
import { type Clock, type Logger, systemClock } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import { createKubeClient, type RequestInfo } from "@firebolt-operator/kube/client";
import { controllerRunnable } from "@firebolt-operator/kube/controller";
import type { EventNote } from "@firebolt-operator/kube/events";
import { createRuntimeMetrics } from "@firebolt-operator/kube/metrics";
import { OPERATOR_DEFAULTS, type OperatorDefaults } from "../../src/api/operator-defaults.ts";
import { type InstanceControllerDeps, instanceController } from "../../src/instance/controller.ts";
import { type CreateCache, createInstanceCaches } from "../../src/instance/instance-caches.ts";
import type { InstancePassRecord } from "../../src/instance/metrics-hooks.ts";
import { clusterConfig } from "./test-client.ts";

export interface InstanceOperator extends AsyncDisposable {
  /** Everything asked of the API server, watches aside. */
  readonly requests: readonly RequestInfo[];
  readonly events: readonly EventNote[];
  readonly passes: readonly InstancePassRecord[];
  /** Every line that was logged, fields and errors with it. */
  readonly log: readonly string[];
}

export interface InstanceOperatorOptions {
  readonly kubeconfig: string;
  readonly defaults?: OperatorDefaults;
  readonly rendering?: InstanceControllerDeps["rendering"];
  readonly clock?: Clock;
  /** Called just before every write leaves. */
  readonly guardWrite?: () => void;
}

export async function startInstanceOperator(options: InstanceOperatorOptions): Promise<InstanceOperator> {
  const { kubeconfig, defaults = OPERATOR_DEFAULTS, guardWrite, rendering } = options;
  const clock = options.clock ?? systemClock;
  const log: string[] = [];
  const logger = listLogger(log);
  const requests: RequestInfo[] = [];
  const events: EventNote[] = [];
  const passes: InstancePassRecord[] = [];
  const client = createKubeClient({
    config: await clusterConfig(kubeconfig),
    onRequest: (info) => info.verb === "watch" || requests.push(info),
    ...(guardWrite === undefined ? {} : { guardWrite }),
  });
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const synced: Promise<void>[] = [];
  const createCache: CreateCache = (wish) => {
    const cache = createObjectCache({ client, logger, freeze: true, ...wish });
    running.push(cache.run(stop.signal));
    synced.push(cache.whenSynced(stop.signal));
    return cache;
  };
  const caches = createInstanceCaches(createCache, undefined, { roles: rendering?.gatewayClusterRole === undefined });
  await Promise.all(synced);
  requests.length = 0;
  const controller = instanceController({
    client,
    caches,
    clock,
    events: { record: (event) => events.push(event) },
    metrics: { passEnded: (record) => passes.push(record), removed: () => undefined },
    defaults,
    ...(rendering === undefined ? {} : { rendering }),
  });
  const metrics = createRuntimeMetrics(undefined);
  running.push(controllerRunnable(controller, { clock, logger, metrics }).run(stop.signal));
  return {
    requests,
    events,
    passes,
    log,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      client.close();
    },
  };
}

function listLogger(log: string[]): Logger {
  const line = (message: string, ...rest: readonly unknown[]) => {
    log.push(
      [message, ...rest.map((part) => (part instanceof Error ? inspect(part) : JSON.stringify(part)))].join(" "),
    );
  };
  const logger: Logger = { debug: line, info: line, error: line, with: () => logger };
  return logger;
}
