// A fleet of engines of one instance: created, edited and deleted with bounded parallelism, and observed by one watch.
// Reads the status of engines, whichever operator writes it.
import { type DeepReadonly, silentLogger } from "@firebolt-operator/kube";
import { createObjectCache, type ObjectCache } from "@firebolt-operator/kube/cache";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { engine as engineManifest, instance as instanceManifest } from "../../test/harness/fixtures/manifests.ts";
import { FLEET_NAMESPACE, type Harness } from "./harness.ts";

const SENDERS = 16;
const PROGRESS_MS = 5_000;
export const INSTANCE = "main";

export type SeenEngine = DeepReadonly<FireboltEngine>;
export type EngineCheck = (engine: SeenEngine) => boolean;

export interface EngineFleet extends AsyncDisposable {
  readonly engines: ObjectCache<FireboltEngine>;
  create(names: readonly string[], spec?: object): Promise<void>;
  /** A merge patch of the spec of each. */
  edit(names: readonly string[], spec: object): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  /** Waits until all of these engines pass; after the deadline it throws with the number that does not. */
  until(names: readonly string[], check: EngineCheck, what: Awaited): Promise<void>;
  /** Waits until all of these are deleted. */
  untilGone(names: readonly string[], what: Awaited): Promise<void>;
}

export interface Awaited {
  readonly describe: string;
  readonly timeoutMs: number;
  /** Throws when waiting is pointless. */
  readonly assertRunning?: () => void;
}

export const engineNames = (count: number, prefix = "e"): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

export async function openFleet(harness: Harness, namespace = FLEET_NAMESPACE): Promise<EngineFleet> {
  const { client, progress } = harness;
  const engines = createObjectCache<FireboltEngine>({
    client,
    type: FireboltEngine,
    logger: silentLogger,
    namespaces: [namespace],
    trim: ({ spec: _, ...rest }) => rest,
  });
  const stop = new AbortController();
  const running = engines.run(stop.signal);
  await engines.whenSynced(stop.signal);
  const key = (name: string) => ({ namespace, name });
  const waiting = async (pending: Set<string>, settled: EngineCheck | "gone", what: Awaited): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (name: string): void => {
      const found = engines.get(key(name));
      const done = settled === "gone" ? found === undefined : found !== undefined && settled(found);
      if (done && pending.delete(name) && pending.size === 0) resolve();
    };
    const count = pending.size;
    const unsubscribe = engines.onEvent(({ object }) => look(object.metadata?.name ?? ""));
    for (const name of [...pending]) look(name);
    if (count === 0) resolve();
    const ticker = setInterval(() => {
      progress(`${what.describe}: ${count - pending.size} of ${count}`);
      try {
        what.assertRunning?.();
      } catch (error) {
        reject(error);
      }
    }, PROGRESS_MS);
    const deadline = setTimeout(() => {
      const [first = ""] = pending;
      const last = JSON.stringify(engines.get(key(first))?.status);
      reject(
        new Error(`${what.describe}: ${pending.size} of ${count} not after ${what.timeoutMs} ms; ${first} is ${last}`),
      );
    }, what.timeoutMs);
    try {
      await promise;
    } finally {
      unsubscribe();
      clearInterval(ticker);
      clearTimeout(deadline);
    }
  };
  return {
    engines,
    create: (names, spec = {}) =>
      inParallel(names, async (name) => {
        const manifest = engineManifest({ name, namespace, instanceRef: INSTANCE, replicas: 1, ...spec });
        await client.create(FireboltEngine, manifest as FireboltEngine);
      }),
    edit: (names, spec) =>
      inParallel(names, async (name) => {
        await client.patch(FireboltEngine, key(name), { type: "merge", body: { spec } });
      }),
    remove: (names) =>
      inParallel(names, async (name) => {
        await client.delete(FireboltEngine, key(name));
      }),
    until: (names, check, what) => waiting(new Set(names), check, what),
    untilGone: (names, what) => waiting(new Set(names), "gone", what),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** Creates the instance of the engines, and waits until it has an address for them. */
export async function createInstance(
  harness: Harness,
  namespace = FLEET_NAMESPACE,
  timeoutMs = 120_000,
): Promise<void> {
  const { client } = harness;
  await client.create(FireboltInstance, instanceManifest({ name: INSTANCE, namespace }) as FireboltInstance);
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const { status } = await client.get(FireboltInstance, { namespace, name: INSTANCE });
    if (status?.phase === "Ready") return;
    if (performance.now() > deadlineMs)
      throw new Error(`the instance is ${JSON.stringify(status)} after ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Stable or stopped, and Ready on this generation, for the current spec. */
export const isReadyOn =
  (generation: number): EngineCheck =>
  ({ metadata, status }) =>
    status?.phase === "stable" &&
    status.currentGeneration === generation &&
    status.activeGeneration === generation &&
    status.observedGeneration === metadata?.generation &&
    status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;

export const isStopped: EngineCheck = ({ metadata, status }) =>
  status?.phase === "stopped" && status.observedGeneration === metadata?.generation;

/** The part of a spec that names an image. */
export const image = (tag: string) => ({
  template: { spec: { containers: [{ name: "engine", image: `example.com/engine:${tag}` }] } },
});

/** Runs the action for all, a few at a time; stops at the first failure. */
export async function inParallel<T>(
  items: readonly T[],
  action: (item: T) => Promise<void>,
  workers = SENDERS,
): Promise<void> {
  const queue = [...items].reverse();
  const work = async (): Promise<void> => {
    for (let item = queue.pop(); item !== undefined; item = queue.pop()) await action(item);
  };
  await Promise.all(Array.from({ length: workers }, work));
}
