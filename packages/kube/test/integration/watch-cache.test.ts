// The watch cache against a real API server: lists and watches, own writes, selectors, namespaces, and a clean stop.
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createObjectCache } from "../../src/cache/cache.ts";
import type { KubeClient } from "../../src/client/client.ts";
import { silentLogger } from "../../src/core/logger.ts";
import { CONFIG_MAPS, type ConfigMap } from "../support/cache-fixtures.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { openClient, type RunningCache, runCache } from "../support/running-cache.ts";

const kubeconfig = inject("adminKubeconfig");
/** Another client: the caches under test see its writes only through their watches. */
let other: KubeClient & Disposable;

beforeAll(async () => {
  other = await openClient(kubeconfig);
});
afterAll(() => other[Symbol.dispose]());

const map = (namespace: string, name: string, labels: Record<string, string> = {}): ConfigMap => ({
  metadata: { name, namespace, labels },
  data: { key: "value" },
});
const setData = (key: string) => ({ type: "merge", body: { data: { key } } }) as const;
const setState = (state: string) => ({ type: "merge", body: { metadata: { labels: { state } } } }) as const;
const names = ({ cache }: RunningCache): string[] => cache.list().map(({ metadata }) => metadata?.name ?? "");
const verbs = ({ requests }: RunningCache): string[] => requests.map(({ verb }) => verb);

describe.each([
  { how: "as a stream", streamingList: true, first: ["watch"] },
  { how: "in pages", streamingList: false, first: ["list", "watch"] },
])("a cache that lists $how", ({ streamingList, first }) => {
  test("shows the current state, then follows changes", async () => {
    const namespace = await createNamespace("follow");
    await other.create(CONFIG_MAPS, map(namespace, "before"));
    await using running = await runCache({ kubeconfig, namespaces: [namespace], streamingList });
    expect(names(running)).toEqual(["before"]);

    await other.create(CONFIG_MAPS, map(namespace, "created"));
    await other.patch(CONFIG_MAPS, { namespace, name: "created" }, setData("changed"));
    await other.delete(CONFIG_MAPS, { namespace, name: "before" });
    await eventually(() => expect(running.emitted).toContain("deleted before"));
    expect(running.emitted).toEqual(["added before", "added created", "modified created", "deleted before"]);
    const shown = running.cache.get({ namespace, name: "created" });
    expect(shown).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { key: "changed" } });
    expect(shown?.metadata).not.toHaveProperty("managedFields");
    expect(verbs(running)).toEqual(first);
  });
});

describe("own writes", () => {
  test("are visible in the next read, without a request and without a second event", async () => {
    const namespace = await createNamespace("own");
    const key = { namespace, name: "mine" };
    await using running = await runCache({ kubeconfig, namespaces: [namespace] });
    const { cache, client } = running;

    const created = await client.create(CONFIG_MAPS, map(namespace, "mine"));
    expect(cache.get(key)?.metadata?.resourceVersion).toBe(created.metadata?.resourceVersion);
    await client.patch(CONFIG_MAPS, key, setData("patched"));
    expect(cache.get(key)?.data).toEqual({ key: "patched" });
    await client.apply(
      CONFIG_MAPS,
      { ...map(namespace, "mine"), data: { key: "applied" } },
      { fieldManager: "t", force: true },
    );
    expect(cache.get(key)?.data).toEqual({ key: "applied" });
    expect(await client.delete(CONFIG_MAPS, key)).toEqual({ type: "gone" });
    expect(cache.get(key)).toBeUndefined();
    await client.create(CONFIG_MAPS, map(namespace, "mine"));
    expect(cache.get(key)?.metadata?.uid).not.toBe(created.metadata?.uid);

    // The watch has delivered everything once it delivers a later write of another client.
    await other.create(CONFIG_MAPS, map(namespace, "marker"));
    await eventually(() => expect(running.emitted).toContain("added marker"));
    expect(running.emitted).toEqual([
      "added mine",
      "modified mine",
      "modified mine",
      "deleted mine",
      "added mine",
      "added marker",
    ]);
    expect(verbs(running)).toEqual(["watch", "create", "patch", "apply", "delete", "create"]);
  });

  test("an object with a finalizer stays until the write that removes it", async () => {
    const namespace = await createNamespace("held");
    const key = { namespace, name: "held" };
    await using running = await runCache({ kubeconfig, namespaces: [namespace] });
    const { cache, client } = running;
    const { metadata, ...rest } = map(namespace, "held");
    await client.create(CONFIG_MAPS, { ...rest, metadata: { ...metadata, finalizers: ["example.com/hold"] } });
    expect((await client.delete(CONFIG_MAPS, key)).type).toBe("terminating");
    expect(cache.get(key)?.metadata?.deletionTimestamp).toBeDefined();
    await client.patch(CONFIG_MAPS, key, { type: "merge", body: { metadata: { finalizers: null } } });
    expect(cache.get(key)).toBeUndefined();
    await other.create(CONFIG_MAPS, map(namespace, "marker"));
    await eventually(() => expect(running.emitted).toContain("added marker"));
    expect(running.emitted).toEqual(["added held", "modified held", "deleted held", "added marker"]);
  });

  test("many writers racing the watch: every read sees its own write, and the final state is the server's", async () => {
    const namespace = await createNamespace("race");
    await using running = await runCache({ kubeconfig, namespaces: [namespace] });
    const { cache, client } = running;
    const worker = async (worker: number): Promise<void> => {
      for (let round = 0; round < 20; round += 1) {
        const name = `w${worker}-${round % 3}`;
        const key = { namespace, name };
        await client.apply(
          CONFIG_MAPS,
          { ...map(namespace, name), data: { round: `${round}` } },
          { fieldManager: "race" },
        );
        expect(cache.get(key)?.data).toEqual({ round: `${round}` });
        if (round % 4 !== 3) continue;
        await client.delete(CONFIG_MAPS, key);
        expect(cache.get(key)).toBeUndefined();
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, index) => worker(index)));
    const { items } = await other.listAll(CONFIG_MAPS, { namespace });
    const versions = (objects: typeof items | ReturnType<typeof cache.list>): unknown[] =>
      objects.map(({ metadata }) => [metadata?.name, metadata?.uid, metadata?.resourceVersion]);
    expect(versions(cache.list())).toEqual(versions(items));
  });
});

test("a label selector: objects leave and return, by writes of others and by own writes", async () => {
  const namespace = await createNamespace("select");
  const key = { namespace, name: "a" };
  await other.create(CONFIG_MAPS, map(namespace, "a", { state: "on" }));
  await other.create(CONFIG_MAPS, map(namespace, "b", { state: "off" }));
  await using running = await runCache({ kubeconfig, namespaces: [namespace], labelSelector: "state in (on, half)" });
  expect(names(running)).toEqual(["a"]);

  await other.patch(CONFIG_MAPS, key, setState("off"));
  await eventually(() => expect(names(running)).toEqual([]));
  await other.patch(CONFIG_MAPS, key, setState("half"));
  await eventually(() => expect(names(running)).toEqual(["a"]));

  await running.client.patch(CONFIG_MAPS, key, setState("off"));
  expect(names(running)).toEqual([]);
  await running.client.patch(CONFIG_MAPS, key, setState("on"));
  expect(names(running)).toEqual(["a"]);
  await running.client.create(CONFIG_MAPS, map(namespace, "c", { state: "off" }));
  await other.create(CONFIG_MAPS, map(namespace, "d", { state: "on" }));
  await eventually(() => expect(names(running)).toEqual(["a", "d"]));
  expect(running.emitted).toEqual(["added a", "deleted a", "added a", "deleted a", "added a", "added d"]);
});

test("a field selector: the server selects, own writes are merged into what it selected", async () => {
  const namespace = await createNamespace("field");
  await using running = await runCache({ kubeconfig, namespaces: [namespace], fieldSelector: "metadata.name=wanted" });
  await running.client.create(CONFIG_MAPS, map(namespace, "other"));
  await running.client.create(CONFIG_MAPS, map(namespace, "wanted"));
  await eventually(() => expect(names(running)).toEqual(["wanted"]));
  await running.client.patch(CONFIG_MAPS, { namespace, name: "wanted" }, setData("patched"));
  expect(running.cache.get({ namespace, name: "wanted" })?.data).toEqual({ key: "patched" });
  expect(names(running)).toEqual(["wanted"]);
});

test("indexes and trimming apply to what is listed, watched and written", async () => {
  const namespace = await createNamespace("index");
  await other.create(CONFIG_MAPS, map(namespace, "listed", { app: "x" }));
  await using running = await runCache({
    kubeconfig,
    namespaces: [namespace],
    indexes: { app: ({ metadata }) => [metadata?.labels?.["app"] ?? "none"] },
    trim: ({ data: _, ...rest }) => rest,
  });
  const found = (value: string): string[] =>
    running.cache.byIndex("app", value).map(({ metadata }) => metadata?.name ?? "");
  await running.client.create(CONFIG_MAPS, map(namespace, "written", { app: "x" }));
  await other.create(CONFIG_MAPS, map(namespace, "watched", { app: "x" }));
  await eventually(() => expect(found("x")).toEqual(["listed", "watched", "written"]));
  await running.client.delete(CONFIG_MAPS, { namespace, name: "listed" });
  expect(found("x")).toEqual(["watched", "written"]);
  for (const object of running.cache.list()) expect(object).not.toHaveProperty("data");
});

test("listeners: one that throws has no effect, a late one gets the current state, one that unsubscribed gets nothing", async () => {
  const namespace = await createNamespace("listen");
  await using running = await runCache({ kubeconfig, namespaces: [namespace] });
  running.cache.onEvent(() => {
    throw new Error("broken listener");
  });
  await other.create(CONFIG_MAPS, map(namespace, "a"));
  await eventually(() => expect(running.emitted).toEqual(["added a"]));
  const late: string[] = [];
  const leave = running.cache.onEvent(({ type, object }) => late.push(`${type} ${object.metadata?.name}`));
  expect(late).toEqual(["added a"]);
  await other.delete(CONFIG_MAPS, { namespace, name: "a" });
  await eventually(() => expect(late).toEqual(["added a", "deleted a"]));
  leave();
  await other.create(CONFIG_MAPS, map(namespace, "b"));
  await eventually(() => expect(running.emitted).toContain("added b"));
  expect(late).toHaveLength(2);
  expect(running.errors).toEqual(Array(3).fill(new Error("broken listener")));
});

test("a cache runs only once, and waiting for it can be aborted", async () => {
  const namespace = await createNamespace("once");
  await using running = await runCache({ kubeconfig, namespaces: [namespace] });
  await expect(running.cache.run(AbortSignal.timeout(1_000))).rejects.toThrow("already running");
  const idle = createObjectCache({ client: running.client, type: CONFIG_MAPS, logger: silentLogger });
  await expect(idle.whenSynced(AbortSignal.abort(new Error("not waiting")))).rejects.toThrow("not waiting");
  const unreadable = { client: running.client, type: CONFIG_MAPS, logger: silentLogger, labelSelector: "app=(" };
  expect(() => createObjectCache(unreadable)).toThrow('at "("');
});

/**
 * The CPU time of the work in this thread. The thread never sleeps meanwhile: waiting counts, and a paused machine does
 * not.
 */
async function processorMs(work: Promise<void>): Promise<number> {
  const began = process.threadCpuUsage();
  let ended = false;
  const ending = work.finally(() => {
    ended = true;
  });
  while (!ended) await turn();
  const { user, system } = process.threadCpuUsage(began);
  await ending;
  return (user + system) / 1_000;
}

test("stops at once, and leaves neither sockets nor timers", async () => {
  const namespace = await createNamespace("end");
  const open = (): string[] => process.getActiveResourcesInfo().filter((name) => /TLS|TCPSocket/.test(name));
  const before = open().length;
  const running = await runCache({ kubeconfig, namespaces: [namespace] });
  expect(open().length).toBeGreaterThan(before);
  expect(await processorMs(running.stop())).toBeLessThan(500);
  // Others may have closed theirs meanwhile.
  await eventually(() => expect(open().length).toBeLessThanOrEqual(before));
  expect(running.errors).toEqual([]);
});
