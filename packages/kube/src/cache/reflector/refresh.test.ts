// Refresh requests in every state of a reflector: the list that serves a request begins after it.
import { describe, expect, test } from "vitest";
import { CONFIG_MAPS, configMap, held, shapeConfigMap } from "../../../test/support/cache-fixtures.ts";
import {
  bookmark,
  broken,
  initialEnd,
  put,
  refused,
  remove,
  type Script,
  scripted,
} from "../../../test/support/scripted-reflector.ts";
import type { AcceptedWrite } from "../../client/client.ts";
import { KubeTimeoutError } from "../../core/errors.ts";
import { parseLabelSelector } from "../../core/label-selector.ts";
import { mergeWrite } from "../own-writes.ts";
import { runReflector } from "./reflector.ts";

type Steps = Parameters<typeof build>[0];
interface Actions {
  /** Requests a refresh; `current` is the content of the store when it resolves. */
  readonly refresh: () => void;
  readonly wrote: (key: string, version: number) => void;
  readonly deleted: (name: string) => void;
}

/** Built in two steps, because scripts need the reflector that they drive. */
function build(script: (actions: Actions) => Script) {
  const current: string[][] = [];
  const started: { played?: ReturnType<typeof scripted> } = {};
  const played = (): ReturnType<typeof scripted> => {
    if (started.played === undefined) throw new Error("the script has not started");
    return started.played;
  };
  const merge = (write: AcceptedWrite): void => {
    const { store, scope } = played();
    mergeWrite(write, {
      type: CONFIG_MAPS,
      store,
      shape: shapeConfigMap,
      scopeOf: () => scope,
      labelSelector: parseLabelSelector(""),
      hasFieldSelector: false,
    });
  };
  started.played = scripted(
    script({
      refresh: () => {
        const { refreshes, store } = played();
        void refreshes.request(new AbortController().signal).then(() => current.push(held(store)));
      },
      wrote: (key, version) => merge({ type: "written", resource: CONFIG_MAPS, object: configMap(key, version) }),
      deleted: (name) =>
        merge({ type: "gone", resource: CONFIG_MAPS, key: { namespace: "ns", name }, uid: `uid-${name}` }),
    }),
  );
  return { ...played(), current };
}

async function play(script: Steps) {
  const played = build(script);
  await runReflector(played.io);
  return { ...played, emitted: played.emitted(), held: held(played.store) };
}

describe("a refresh", () => {
  test("of a stalled watch lists on a new connection, and the list replaces the cached state", async () => {
    const { log, current, emitted, notes } = await play(({ refresh }) => ({
      connections: [
        [put("ns/a", 3), put("ns/b", 4), initialEnd(9), refresh, "silence"],
        [put("ns/a", 12), initialEnd(20), bookmark(21)],
      ],
    }));
    expect(log).toEqual(["open initial", "close", "open initial", "close"]);
    expect(current).toEqual([["ns/a@12"]]);
    expect(emitted.slice(2)).toEqual(["deleted ns/b@4 watch", "modified ns/a@12 watch"]);
    expect(notes).toContainEqual({ type: "listed", reason: "refresh", version: "20", rewound: false });
    expect(notes.filter(({ type }) => type === "failed")).toEqual([]);
  });

  test("that finds nothing new emits nothing", async () => {
    const { current, emitted } = await play(({ refresh }) => ({
      connections: [
        [put("ns/a", 3), initialEnd(9), refresh, "silence"],
        [put("ns/a", 3), initialEnd(9), bookmark(10)],
      ],
    }));
    expect(current).toEqual([["ns/a@3"]]);
    expect(emitted).toEqual(["added ns/a@3 watch"]);
  });

  test("lists in pages if the server does not support streaming", async () => {
    const { log, current } = await play(({ refresh }) => ({
      streaming: false,
      pages: [
        { entries: [["ns/a", 3]], version: "9" },
        { entries: [["ns/a", 12]], version: "20", token: "more" },
        { entries: [["ns/b", 13]], version: "20" },
      ],
      connections: [[refresh, "silence"], [bookmark(21)]],
    }));
    expect(log).toEqual(["page first", "open 9", "close", "page first", "page more", "open 20", "close"]);
    expect(current).toEqual([["ns/a@12", "ns/b@13"]]);
  });

  test("is not served by a list that began before it: that one is abandoned, even if it is stalled", async () => {
    const streamed = await play(({ refresh }) => ({
      connections: [
        [put("ns/a", 3), refresh, "silence"],
        [put("ns/a", 12), initialEnd(20)],
      ],
    }));
    expect(streamed.log).toEqual(["open initial", "close", "open initial", "close"]);
    expect(streamed.current).toEqual([["ns/a@12"]]);

    const paged = await play(({ refresh }) => ({
      streaming: false,
      pages: [
        { entries: [["ns/a", 3]], version: "9", token: "more" },
        refresh,
        "silence",
        { entries: [["ns/a", 12]], version: "20" },
      ],
    }));
    expect(paged.log).toEqual(["page first", "page more", "page first", "open 20"]);
    expect(paged.current).toEqual([["ns/a@12"]]);
  });

  test("is not served by an older list that completes at the same moment", async () => {
    const { current, notes } = await play(({ refresh }) => ({
      connections: [
        [put("ns/a", 3), refresh, initialEnd(9)],
        [put("ns/a", 12), initialEnd(20)],
      ],
    }));
    expect(current).toEqual([["ns/a@12"]]);
    expect(notes.filter(({ type }) => type === "listed")).toHaveLength(2);
  });

  test("requested twice before a list begins needs one list", async () => {
    const { log, current } = await play(({ refresh }) => ({
      connections: [
        [initialEnd(9), refresh, refresh, "silence"],
        [put("ns/a", 12), initialEnd(20), bookmark(21)],
      ],
    }));
    expect(log.filter((line) => line === "open initial")).toHaveLength(2);
    expect(current).toEqual([["ns/a@12"], ["ns/a@12"]]);
  });

  test("requested during the list of another refresh lets that one finish and then lists again", async () => {
    const { log, current } = await play(({ refresh }) => ({
      connections: [
        [initialEnd(9), refresh, "silence"],
        [put("ns/a", 12), refresh, refresh, put("ns/b", 13), initialEnd(20)],
        [put("ns/a", 30), initialEnd(31), bookmark(32)],
      ],
    }));
    expect(log.filter((line) => line === "open initial")).toHaveLength(3);
    expect(current).toEqual([["ns/a@12", "ns/b@13"], ["ns/a@30"], ["ns/a@30"]]);
  });

  test("before the first list begins is served by the first list", async () => {
    const { io, refreshes, log } = scripted({ connections: [[put("ns/a", 3), initialEnd(9), bookmark(10)]] });
    const served = refreshes.request(new AbortController().signal);
    await runReflector(io);
    await served;
    expect(log).toEqual(["open initial", "close"]);
  });
});

describe("during a refresh", () => {
  test("events are part of the list or follow it, each emitted once", async () => {
    const { emitted, held, current } = await play(({ refresh }) => ({
      connections: [
        [put("ns/a", 3), put("ns/b", 4), initialEnd(9), refresh, "silence"],
        [put("ns/a", 3), put("ns/b", 4), remove("ns/b", 15), put("ns/c", 16), initialEnd(20), put("ns/a", 21)],
      ],
    }));
    expect(current).toEqual([["ns/a@3", "ns/c@16"]]);
    expect(emitted.slice(2)).toEqual(["deleted ns/b@4 watch", "added ns/c@16 watch", "modified ns/a@21 watch"]);
    expect(held).toEqual(["ns/a@21", "ns/c@16"]);
  });

  test("an own write newer than the list stays, and its watch event is an echo", async () => {
    const { current, emitted, scope } = await play(({ refresh, wrote }) => ({
      connections: [
        [put("ns/a", 3), initialEnd(9), refresh, "silence"],
        [put("ns/a", 3), () => wrote("ns/a", 25), () => wrote("ns/new", 26), initialEnd(20), bookmark(21)],
      ],
    }));
    expect(current).toEqual([["ns/a@25", "ns/new@26"]]);
    expect(emitted).toEqual(["added ns/a@3 watch", "modified ns/a@25 write", "added ns/new@26 write"]);
    expect([scope.isEcho("25"), scope.isEcho("26")]).toEqual([true, true]);
  });

  test("an own delete is not undone by the list, which may still contain the object", async () => {
    const { current, emitted, store } = await play(({ refresh, deleted }) => ({
      connections: [
        [put("ns/a", 3), put("ns/b", 4), initialEnd(9), refresh, "silence"],
        [put("ns/a", 3), () => deleted("b"), put("ns/b", 4), initialEnd(20), remove("ns/b", 22)],
      ],
    }));
    expect(current).toEqual([["ns/a@3"]]);
    expect(emitted.slice(2)).toEqual(["deleted ns/b@4 write"]);
    expect(store.tombstones.size).toBe(0);
  });

  test.each([
    ["410", refused(410)],
    ["a broken connection", broken],
    ["an undecodable event", new SyntaxError("broken JSON")],
  ])("%s makes the list begin again after a while; only the complete one counts", async (_, failure) => {
    const { log, current } = await play(({ refresh }) => ({
      connections: [
        [put("ns/a", 3), initialEnd(9), refresh, "silence"],
        [put("ns/x", 11), failure],
        [put("ns/a", 12), initialEnd(20), bookmark(21)],
      ],
    }));
    expect(log.filter((line) => line !== "close")).toEqual([
      "open initial",
      "open initial",
      "wait 200",
      "open initial",
    ]);
    expect(current).toEqual([["ns/a@12"]]);
  });

  test("a stream that falls silent before it is complete is replaced by a list in pages", async () => {
    const { log, current } = await play(({ refresh }) => ({
      connections: [
        [initialEnd(9), refresh, "silence"],
        [put("ns/a", 11), new KubeTimeoutError("no byte")],
        [bookmark(21)],
      ],
      pages: [{ entries: [["ns/a", 12]], version: "20" }],
    }));
    expect(log.filter((line) => line !== "close")).toEqual([
      "open initial",
      "open initial",
      "wait 200",
      "page first",
      "open 20",
    ]);
    expect(current).toEqual([["ns/a@12"]]);
  });

  test("after a rollback of the server's storage the list wins entirely", async () => {
    const { current, notes } = await play(({ refresh }) => ({
      connections: [
        [put("ns/a", 80), initialEnd(90), refresh, "silence"],
        [put("ns/b", 40), initialEnd(50), bookmark(51)],
      ],
    }));
    expect(current).toEqual([["ns/b@40"]]);
    expect(notes).toContainEqual({ type: "listed", reason: "refresh", version: "50", rewound: true });
  });
});

test("a refresh interrupts a back-off that began before it", async () => {
  const { log, refreshes, io, store } = scripted({
    longWaits: true,
    connections: [
      [initialEnd(9), broken],
      [put("ns/a", 12), initialEnd(20), bookmark(21)],
    ],
  });
  const running = runReflector(io);
  await expect.poll(() => log).toContain("wait 200");
  const served = refreshes.request(new AbortController().signal).then(() => held(store));
  expect(await served).toEqual(["ns/a@12"]);
  await running;
});

test("a namespace that cannot be read does not block a refresh", async () => {
  const { log, refreshes, io } = scripted({
    optional: true,
    longWaits: true,
    connections: [[initialEnd(9), put("ns/a", 10), "end"], [refused(403)], [refused(403)], [initialEnd(30)]],
  });
  const running = runReflector(io);
  await expect.poll(() => log).toContain("wait 30000");
  await refreshes.request(new AbortController().signal);
  expect(log.filter((line) => line.startsWith("wait"))).toHaveLength(2);
  // A second time, so that the script ends.
  await refreshes.request(new AbortController().signal);
  await running;
});

test("an aborted request rejects with its reason, and the others are served", async () => {
  const { io, refreshes } = scripted({ connections: [[initialEnd(9), bookmark(10)]] });
  const abort = new AbortController();
  const reason = new Error("no longer the leader");
  const given = refreshes.request(abort.signal);
  const kept = refreshes.request(new AbortController().signal);
  abort.abort(reason);
  await expect(given).rejects.toBe(reason);
  await runReflector(io);
  await kept;
  await expect(refreshes.request(abort.signal)).rejects.toBe(reason);
});
