// Five thousand objects through the watch cache, with both ways of listing, and the time of each.
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { CONFIG_MAPS } from "../support/cache-fixtures.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { openClient, runCache } from "../support/running-cache.ts";

const OBJECTS = 5_000;
const WRITERS = 32;
const kubeconfig = inject("adminKubeconfig");
let other: KubeClient & Disposable;
let namespace: string;

beforeAll(async () => {
  other = await openClient(kubeconfig);
  namespace = await createNamespace("scale");
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let index = next++; index < OBJECTS; index = next++)
      await other.create(CONFIG_MAPS, {
        metadata: { namespace, name: `m${index}`, labels: { group: `g${index % 50}` } },
        data: { key: "x".repeat(500) },
      });
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
});
afterAll(() => other[Symbol.dispose]());

describe.each([
  { how: "as a stream", streamingList: true, requests: ["watch"] },
  { how: "in pages", streamingList: false, requests: [...Array<string>(10).fill("list"), "watch"] },
])(`${OBJECTS} objects $how`, ({ how, streamingList, requests }) => {
  test("are listed, indexed and watched", async () => {
    const startedMs = performance.now();
    await using running = await runCache({
      kubeconfig,
      namespaces: [namespace],
      streamingList,
      freeze: false,
      indexes: { group: ({ metadata }) => [metadata?.labels?.["group"] ?? ""] },
    });
    console.info(`${OBJECTS} objects ${how}: synced in ${Math.round(performance.now() - startedMs)} ms`);
    expect(running.cache.size).toBe(OBJECTS);
    expect(running.emitted).toHaveLength(OBJECTS);
    expect(running.cache.byIndex("group", "g7")).toHaveLength(OBJECTS / 50);
    await eventually(() => expect(running.requests.map(({ verb }) => verb)).toEqual(requests));
    const name = `late-${streamingList}`;
    await other.create(CONFIG_MAPS, { metadata: { namespace, name } });
    await eventually(() => expect(running.emitted.at(-1)).toBe(`added ${name}`));
    await other.delete(CONFIG_MAPS, { namespace, name });
    await eventually(() => expect(running.cache.size).toBe(OBJECTS));

    // As after an election: one more list of the same kind, which emits nothing that is known.
    const emitted = running.emitted.length;
    const refreshedMs = performance.now();
    await running.cache.refresh(AbortSignal.timeout(150_000));
    console.info(`${OBJECTS} objects ${how}: refreshed in ${Math.round(performance.now() - refreshedMs)} ms`);
    expect([running.emitted.length, running.relists]).toEqual([emitted, ["start", "refresh"]]);
    await eventually(() => expect(running.requests.map(({ verb }) => verb)).toEqual([...requests, ...requests]));
  });
});
