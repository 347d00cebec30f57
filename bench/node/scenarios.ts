// What is measured on a real node: a query that wakes a stopped engine, the creation of an engine, and a roll to
// another image. Each engine is used once: no gateway has heard of it before.

import { eventually } from "@firebolt-operator/kube/testing";
import { applyManifests } from "../../dev/deploy/manifests.ts";
import { query } from "../../dev/deploy/query.ts";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { LABEL } from "../../src/api/labels.ts";
import { engineManifest, NAMESPACE, type NodePlatform } from "./node-platform.ts";
import type { Observer } from "./observe.ts";
import type { Moment, Observed, Way } from "./parts.ts";

const TIMEOUT_MS = 120_000;

export interface Measuring {
  readonly platform: NodePlatform;
  readonly observer: Observer;
}

/** From the query until its response. The engine is left running. */
export async function measureWake({ platform, observer }: Measuring, name: string): Promise<Way> {
  await applyManifests(platform.cluster, [engineManifest(name, 0)]);
  await untilEngine(observer, name, ({ status }) => status?.phase === "stopped" && status.autoStopReason !== undefined);
  const beganMs = performance.now();
  const { status, body } = await query({ gateway: platform.gateway, engine: name, sql: "SELECT 6 * 7 AS answer" });
  const answered = performance.now();
  if (status !== 200) throw new Error(`the query that was to wake ${name} failed with ${status}: ${body}`);
  await untilServes(observer, name, 1);
  const { settled: _, ...observed } = await observer.moments({ engine: name, generation: 1, sinceMs: beganMs });
  return { beganMs, observed: { ...observed, answered } };
}

/** From the request that creates it until it is Ready. */
export async function measureCreation({ platform, observer }: Measuring, name: string): Promise<Way> {
  const beganMs = performance.now();
  await applyManifests(platform.cluster, [engineManifest(name, 1)]);
  await untilServes(observer, name, 0);
  const observed = await observer.moments({ engine: name, generation: 0, sinceMs: beganMs });
  // Its Service selects the first generation from the beginning.
  return { beganMs, observed: without(observed, "switched", "requested", "endpoint") };
}

/** From another image in the spec until the engine is at rest on the next generation. */
export async function measureRoll({ platform, observer }: Measuring, name: string): Promise<Way> {
  const generation = (observer.history.latest("FireboltEngine", name)?.status?.currentGeneration ?? 0) + 1;
  const containers = [{ name: "engine", image: platform.nextImage }];
  const { client, call } = platform.cluster;
  const beganMs = performance.now();
  await client.patch(
    FireboltEngine,
    { namespace: NAMESPACE, name },
    { type: "merge", body: { spec: { template: { spec: { containers } } } } },
    call,
  );
  await untilServes(observer, name, generation);
  const observed = await observer.moments({ engine: name, generation, sinceMs: beganMs });
  return { beganMs, observed: without(observed, "requested", "endpoint") };
}

/** Deletes the engine and waits until the node is free of its pods. */
export async function removeEngine({ platform, observer }: Measuring, name: string): Promise<void> {
  const { client, call } = platform.cluster;
  await client.delete(FireboltEngine, { namespace: NAMESPACE, name }, call);
  const isLeft = (): boolean =>
    observer.history.latest("FireboltEngine", name) !== undefined ||
    observer.history.present("Pod").some(({ metadata }) => metadata?.labels?.[LABEL.engine] === name);
  await eventually(() => !isLeft(), { timeoutMs: TIMEOUT_MS, describe: `${name} and its pods are deleted` });
}

function untilServes(observer: Observer, name: string, generation: number): Promise<void> {
  return untilEngine(
    observer,
    name,
    ({ status }) =>
      status?.phase === "stable" &&
      status.activeGeneration === generation &&
      status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true,
  );
}

async function untilEngine(
  observer: Observer,
  name: string,
  holds: (engine: FireboltEngine) => boolean,
): Promise<void> {
  const latest = (): FireboltEngine | undefined => observer.history.latest("FireboltEngine", name);
  await eventually(
    () => {
      const engine = latest();
      if (engine !== undefined && holds(engine)) return;
      throw new Error(`${name} is ${JSON.stringify(engine?.status)}`);
    },
    { timeoutMs: TIMEOUT_MS, describe: `${name} at rest` },
  );
}

function without(observed: Observed, ...moments: readonly Moment[]): Observed {
  return Object.fromEntries(Object.entries(observed).filter(([moment]) => !moments.some((one) => one === moment)));
}
