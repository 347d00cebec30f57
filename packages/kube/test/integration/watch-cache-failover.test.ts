// A change of leader while one watch of the standby is stalled: the new leader reconciles the state of the API server,
// not the earlier state of its caches. Two managers in this process share one lease; the standby reads one kind through
// a proxy.
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { createObjectCache, type ObjectCache } from "../../src/cache/cache.ts";
import type { RequestInfo } from "../../src/client/calls.ts";
import type { KubeClient } from "../../src/client/client.ts";
import { watch } from "../../src/controller/controller.ts";
import { createManager } from "../../src/controller/manager.ts";
import { controllerRunnable } from "../../src/controller/run-controller.ts";
import { cacheRunnable } from "../../src/controller/runnable.ts";
import { systemClock } from "../../src/core/clock.ts";
import { type Logger, silentLogger } from "../../src/core/logger.ts";
import { type KubeObject, keyOf } from "../../src/core/object.ts";
import type { ResourceType } from "../../src/core/resource.ts";
import { createLeaderElector } from "../../src/election/leader-election.ts";
import { leaseStore } from "../../src/election/lease-store.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { silentRuntimeMetrics } from "../../src/metrics/runtime.ts";
import { startTcpProxy, type TcpProxy } from "../../src/testing/tcp-proxy.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { openClient } from "../support/running-cache.ts";
import { QUICK_TIMING } from "../support/start-manager.ts";
import { clusterConfig, Secret } from "../support/test-client.ts";

interface Replica {
  readonly states: ObjectCache<KubeObject & { data?: Record<string, string> }>;
  /** What each reconcile saw, in order. */
  readonly saw: readonly string[];
  readonly requests: readonly RequestInfo[];
  readonly messages: readonly string[];
  readonly client: KubeClient;
  readonly leading: boolean;
  stop(): Promise<void>;
}

const kubeconfig = inject("adminKubeconfig");
let namespace: string;
let proxy: TcpProxy;
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  namespace = await createNamespace("failover");
  proxy = await startTcpProxy((await clusterConfig()).server);
  stops = [];
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  await proxy[Symbol.asyncDispose]();
});

/** A manager with two caches: "states" (optionally through the proxy) decides what "triggers" (always direct) start. */
async function startReplica(identity: string, { proxied = false } = {}): Promise<Replica> {
  const requests: RequestInfo[] = [];
  const messages: string[] = [];
  const saw: string[] = [];
  const logger: Logger = { ...silentLogger, info: (message) => messages.push(message), with: () => logger };
  const election = await openClient(kubeconfig);
  const client = await openClient(kubeconfig);
  const server = proxied ? { server: `https://127.0.0.1:${proxy.port}` } : {};
  const reader = await openClient(kubeconfig, { ...server, onRequest: (info) => requests.push(info) });
  const cacheOf = <T extends KubeObject>(type: ResourceType<T>, through: KubeClient): ObjectCache<T> =>
    createObjectCache<T>({ client: through, type, logger, namespaces: [namespace], labelSelector: "failover" });
  const states = cacheOf(ConfigMap, reader);
  const triggers = cacheOf(Secret, client);
  const elector = createLeaderElector({
    store: leaseStore(election, { namespace, name: "failover" }),
    timing: QUICK_TIMING,
    clock: systemClock,
    logger,
    metrics: silentRuntimeMetrics,
    identity,
  });
  const controller = controllerRunnable(
    {
      name: identity,
      watches: [watch(triggers, ({ object }) => [keyOf(object)])],
      async reconcile() {
        saw.push(states.get({ namespace, name: "state" })?.data?.["phase"] ?? "nothing");
        return "onChange";
      },
    },
    { clock: systemClock, logger, metrics: silentRuntimeMetrics },
  );
  const manager = createManager({ logger, clock: systemClock });
  for (const part of [cacheRunnable(states), cacheRunnable(triggers), elector, controller]) manager.add(part);
  const running = manager.run(new AbortController().signal);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      manager.stop();
      await running;
      for (const open of [election, client, reader]) open.close();
    })();
    return stopped;
  };
  stops.push(stop);
  await Promise.all([states, triggers].map((cache) => cache.whenSynced(AbortSignal.timeout(90_000))));
  return {
    states,
    saw,
    requests,
    messages,
    client,
    get leading() {
      return elector.leading;
    },
    stop,
  };
}

/** A leader and a standby with the current state; then the standby's connections stall and the leader writes. */
async function stalledStandby(): Promise<{ readonly leader: Replica; readonly standby: Replica }> {
  const leader = await startReplica("leader");
  const labels = { failover: "yes" };
  await leader.client.create(ConfigMap, { metadata: { name: "state", namespace, labels }, data: { phase: "stable" } });
  // Two watches: nothing but this tells that the state comes before what is triggered.
  await eventually(() => expect(phaseIn(leader)).toBe("stable"));
  await leader.client.create(Secret, { metadata: { name: "trigger", namespace, labels } });
  await eventually(() => expect(leader.saw).toEqual(["stable"]));
  const standby = await startReplica("standby", { proxied: true });
  await eventually(() => expect(standby.messages).toContain("another process holds the lease"));
  proxy.stall();
  const body = { data: { phase: "draining" } };
  await leader.client.patch(ConfigMap, { namespace, name: "state" }, { type: "merge", body });
  await eventually(() => expect(leader.states.get({ namespace, name: "state" })?.data).toEqual({ phase: "draining" }));
  // If the standby had received the write, the tests would prove nothing.
  expect(phaseIn(standby)).toBe("stable");
  return { leader, standby };
}

const phaseIn = ({ states }: Replica): string | undefined => states.get({ namespace, name: "state" })?.data?.["phase"];

test("a standby with a stalled watch sees the former leader's last write in its first reconcile", async () => {
  const { leader, standby } = await stalledStandby();
  await leader.stop();
  await eventually(() => expect(standby.saw.length).toBeGreaterThan(0));
  expect(standby.saw).toEqual(["draining"]);
  // One complete list per kind and election, which continues as the watch.
  expect(standby.requests.map(({ verb }) => verb)).toEqual(["watch", "watch"]);

  // The new connection is a working watch.
  const body = { data: { phase: "cleaning" } };
  await standby.client.patch(ConfigMap, { namespace, name: "state" }, { type: "merge", body });
  await eventually(() => expect(phaseIn(standby)).toBe("cleaning"));
});

test("while it cannot list, a new leader keeps the lease and reconciles nothing, and continues when it can", async () => {
  const { leader, standby } = await stalledStandby();
  proxy.refuse(true);
  await leader.stop();
  await eventually(() => expect(standby.leading).toBe(true));
  const failed = standby.requests.length;
  await eventually(() => expect(standby.requests.length).toBeGreaterThan(failed + 2));
  expect([standby.leading, standby.saw, phaseIn(standby)]).toEqual([true, [], "stable"]);
  proxy.refuse(false);
  await eventually(() => expect(standby.saw).toEqual(["draining"]));
  expect(standby.leading).toBe(true);
});

test("a stop while a new leader cannot list is clean", async () => {
  const { leader, standby } = await stalledStandby();
  proxy.refuse(true);
  await leader.stop();
  await eventually(() => expect(standby.leading).toBe(true));
  await standby.stop();
  expect(standby.saw).toEqual([]);
  expect(standby.messages).toContain("lease released");
});
