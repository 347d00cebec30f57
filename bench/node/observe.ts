// Observes one namespace from outside: when each step of an engine's way was stored by the API server, and when its
// program began and listened, by its own log. Every moment is on the monotonic clock of this process.
import { silentLogger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { type Api, valueAt } from "@firebolt-operator/kube/testing";
import { ANNOTATION, LABEL } from "../../src/api/labels.ts";
import { podName, routingServiceName, statefulSetName } from "../../src/engine/model/names.ts";
import { EndpointSlice, engineOfSlice, generationOfPod, trimSlice } from "../../src/wake-agent/kinds.ts";
import {
  type EngineHistory,
  type SeenKind,
  type SeenOf,
  watchEngineHistory,
} from "../../test/engine/support/history.ts";
import type { Observed } from "./parts.ts";
import { isReady } from "./pod-moments.ts";

export interface Generation {
  readonly engine: string;
  readonly generation: number;
  /** Only what was stored after this moment counts. */
  readonly sinceMs: number;
}

export interface Observer extends AsyncDisposable {
  readonly history: EngineHistory;
  /** What was observed of this generation so far. */
  moments(of: Generation): Promise<Observed>;
}

export async function openObserver(client: KubeClient, api: Api, namespace: string): Promise<Observer> {
  await using stack = new AsyncDisposableStack();
  const history = stack.use(await watchEngineHistory(client, namespace));
  const endpoints = new Map<string, number>();
  const stop = new AbortController();
  const shared = { client, logger: silentLogger, namespaces: [namespace] };
  const slices = createObjectCache({ ...shared, type: EndpointSlice, trim: trimSlice });
  slices.onEvent(({ object }) => {
    const engine = engineOfSlice(object);
    for (const { targetRef } of object.endpoints ?? []) {
      const key = `${engine}/${generationOfPod(targetRef?.name ?? "")}`;
      if (engine !== undefined && !endpoints.has(key)) endpoints.set(key, performance.now());
    }
  });
  const watching = slices.run(stop.signal);
  stack.defer(() => {
    stop.abort();
    return watching;
  });
  await slices.whenSynced(stop.signal);
  const kept = stack.move();
  return {
    history,
    async moments({ engine, generation, sinceMs }) {
      const first = <K extends SeenKind>(kind: K, name: string, holds: (object: SeenOf<K>["object"]) => boolean) =>
        history
          .of(kind, name)
          .find(({ change, atMs, object }) => change === "stored" && atMs >= sinceMs && holds(object))?.atMs;
      const pod = podName(engine, generation, 0);
      return defined({
        requested: first(
          "FireboltEngine",
          engine,
          ({ metadata }) => metadata?.annotations?.[ANNOTATION.wakeRequested] !== undefined,
        ),
        statefulSet: first("StatefulSet", statefulSetName(engine, generation), () => true),
        pod: first("Pod", pod, () => true),
        scheduled: first("Pod", pod, ({ spec }) => spec?.nodeName !== undefined),
        ...(await readStart(api, namespace, pod)),
        started: first("Pod", pod, ({ status }) => status?.containerStatuses?.[0]?.started === true),
        ready: first("Pod", pod, isReady),
        switched: first(
          "Service",
          routingServiceName(engine),
          ({ spec }) => spec?.selector?.[LABEL.generation] === String(generation),
        ),
        endpoint: endpoints.get(`${engine}/${generation}`),
        settled: first(
          "FireboltEngine",
          engine,
          ({ status }) =>
            status?.phase === "stable" &&
            status.activeGeneration === generation &&
            status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true,
        ),
      });
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The engine's own account of its start, which has the clock of the machine. */
async function readStart(api: Api, namespace: string, pod: string): Promise<Observed> {
  const { body } = await api.expect({ path: `/api/v1/namespaces/${namespace}/pods/${pod}/log`, as: "text" });
  const line = String(body)
    .split("\n")
    .find((one) => one.includes('"message":"listening"'));
  if (line === undefined) throw new Error(`the log of ${pod} does not say when it listened: ${String(body)}`);
  const report: unknown = JSON.parse(line);
  const at = (key: string): number => Number(valueAt(report, [key])) - performance.timeOrigin;
  return { process: at("startedAtMs"), listening: at("atMs") };
}

function defined(moments: Readonly<Record<string, number | undefined>>): Observed {
  return Object.fromEntries(Object.entries(moments).filter(([, atMs]) => atMs !== undefined));
}
