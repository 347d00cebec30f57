// The current activity of an operator: requests without a response, and keys that a worker processes or that are queued. A count
// of requests cannot show this: a request is counted when it has completed.
import type { KubeClient } from "@firebolt-operator/kube/client";
import { type RuntimeMetrics, silentRuntimeMetrics } from "@firebolt-operator/kube/metrics";

export interface OperatorActivity {
  /** For the controllers of this operator. */
  readonly metrics: RuntimeMetrics;
  /** The client with its requests counted; watches are not counted. */
  counted(client: KubeClient): KubeClient;
  isIdle(): boolean;
}

export function watchActivity(): OperatorActivity {
  let calls = 0;
  const waiting = new Map<string, number>();
  const held = new Map<string, () => number>();
  const during = async <R>(call: () => Promise<R>): Promise<R> => {
    calls += 1;
    try {
      return await call();
    } finally {
      calls -= 1;
    }
  };
  return {
    metrics: {
      ...silentRuntimeMetrics,
      queue: (controller) => ({
        ...silentRuntimeMetrics.queue(controller),
        depth: (keys) => waiting.set(controller, keys),
        watch: (running) => held.set(controller, () => running().keys),
      }),
    },
    counted: (client) => ({
      get: (type, key, options) => during(() => client.get(type, key, options)),
      find: (type, key, options) => during(() => client.find(type, key, options)),
      list: (type, options) => during(() => client.list(type, options)),
      listAll: (type, options) => during(() => client.listAll(type, options)),
      watch: (type, options) => client.watch(type, options),
      create: (type, object, options) => during(() => client.create(type, object, options)),
      replace: (type, object, options) => during(() => client.replace(type, object, options)),
      patch: (type, key, patch, options) => during(() => client.patch(type, key, patch, options)),
      apply: (type, object, options) => during(() => client.apply(type, object, options)),
      delete: (type, key, options) => during(() => client.delete(type, key, options)),
      podProxyGet: (request) => during(() => client.podProxyGet(request)),
      podLogs: (request, options) => client.podLogs(request, options),
      request: (request) => during(() => client.request(request)),
      onWrite: (listener) => client.onWrite(listener),
      close: () => client.close(),
    }),
    isIdle: () =>
      calls === 0 &&
      [...waiting.values()].every((keys) => keys === 0) &&
      [...held.values()].every((keys) => keys() === 0),
  };
}
