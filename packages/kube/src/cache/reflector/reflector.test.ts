import { describe, expect, test } from "vitest";
import type { ConfigMap } from "../../../test/support/cache-fixtures.ts";
import {
  bookmark,
  broken,
  initialEnd,
  play,
  put,
  refused,
  remove,
  scripted,
} from "../../../test/support/scripted-reflector.ts";
import { KubeTimeoutError } from "../../core/errors.ts";
import { runReflector, step } from "./reflector.ts";
import type { EventStream, ReflectorState } from "./states.ts";

describe("the first list", () => {
  test("arrives as events, becomes visible as a whole, and its connection continues as the watch", async () => {
    const { log, emitted } = await play({
      connections: [[put("ns/a", 3), put("ns/b", 2), remove("ns/b", 8), initialEnd(9), put("ns/c", 10)]],
    });
    expect(log).toEqual(["open initial", "close"]);
    expect(emitted).toEqual(["added ns/a@3 watch", "added ns/c@10 watch"]);
  });

  test.each([400, 422])("falls back to pages permanently if the server rejects it with %i", async (status) => {
    const { log, held } = await play({
      connections: [[refused(status)], [refused(410)]],
      pages: [
        { entries: [["ns/a", 3]], version: "9", token: "more" },
        { entries: [["ns/b", 4]], version: "9" },
        { entries: [["ns/a", 3]], version: "12" },
      ],
    });
    expect(log).toEqual([
      "open initial",
      "close",
      "page first",
      "page more",
      "open 9",
      "close",
      "wait 200",
      "page first",
      "open 12",
    ]);
    expect(held).toEqual(["ns/a@3"]);
  });

  test("falls back to pages if the server ignores the parameter and sends an ordinary bookmark", async () => {
    const { log, notes } = await play({ connections: [[put("ns/a", 3), bookmark(9)]] });
    expect(log).toEqual(["open initial", "close", "page first"]);
    expect(notes.map(({ type }) => type)).toEqual(["streamingUnsupported"]);
  });

  test.each([
    ["breaks", broken],
    ["ends early", "end"],
    ["has an undecodable event", new SyntaxError("broken JSON")],
  ] as const)("that %s shows nothing and is retried with growing back-off", async (_, happening) => {
    const { log, emitted } = await play({
      connections: [[put("ns/a", 3), happening], [happening], [put("ns/b", 4), initialEnd(9)]],
    });
    expect(log.filter((line) => line !== "close")).toEqual([
      "open initial",
      "wait 200",
      "open initial",
      "wait 400",
      "open initial",
    ]);
    expect(emitted).toEqual(["added ns/b@4 watch"]);
  });

  test("an expired continue token restarts the list", async () => {
    const { log, held } = await play({
      streaming: false,
      pages: [
        { entries: [["ns/old", 1]], version: "9", token: "more" },
        refused(410),
        { entries: [["ns/a", 12]], version: "20" },
      ],
    });
    expect(log).toEqual(["page first", "page more", "wait 200", "page first", "open 20"]);
    expect(held).toEqual(["ns/a@12"]);
  });
});

describe("the watch", () => {
  test("closed by the server resumes at once from the last event or bookmark", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), put("ns/a", 10), "end"], [bookmark(15), "end"], [bookmark(15)]],
    });
    expect(log).toEqual(["open initial", "close", "open 10", "close", "open 15", "close"]);
  });

  test("that breaks resumes after a back-off, which grows with consecutive failures and resets after success", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), broken], [broken], [refused(500)], [put("ns/a", 12), broken], [bookmark(13)]],
    });
    expect(log.filter((line) => line !== "close")).toEqual([
      "open initial",
      "wait 200",
      "open 9",
      "wait 400",
      "open 9",
      "wait 800",
      "open 9",
      "wait 200",
      "open 12",
    ]);
  });

  test("that ends repeatedly without an event backs off", async () => {
    const { log } = await play({ connections: [[initialEnd(9), "end"], ["end"], ["end"], [bookmark(10)]] });
    expect(log.filter((line) => line.startsWith("wait"))).toEqual(["wait 200", "wait 400", "wait 800"]);
  });

  test("that lasted counts as working, even without events", async () => {
    const { log } = await play({
      eventMs: 10_000,
      connections: [[initialEnd(9), "end"], ["end"], [broken], [broken], [bookmark(10)]],
    });
    expect(log.filter((line) => line.startsWith("wait"))).toEqual(["wait 200", "wait 200"]);
  });

  test("waits for the server's Retry-After", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), refused(429, { details: { retryAfterSeconds: 7 } })], [bookmark(10)]],
    });
    expect(log).toContain("wait 7000");
  });

  test.each([
    ["410 when continuing", [[initialEnd(9), put("ns/a", 10), broken], [refused(410)]], "expired"],
    ["410 in the middle", [[initialEnd(9), put("ns/a", 10), refused(410)]], "expired"],
    ["an undecodable event", [[initialEnd(9), put("ns/a", 10), new TypeError("no name")]], "undecodable"],
    ["a bookmark from the past", [[initialEnd(9), put("ns/a", 10), bookmark(5)]], "rewound"],
  ] as const)("%s: lists again and loses no deletion", async (_, connections, reason) => {
    const { log, emitted, notes } = await play({
      connections: [...connections, [put("ns/b", 11), initialEnd(20), bookmark(21)]],
    });
    expect(log.filter((line) => line === "open initial")).toHaveLength(2);
    expect(emitted).toEqual(["added ns/a@10 watch", "deleted ns/a@10 watch", "added ns/b@11 watch"]);
    expect(notes).toContainEqual({ type: "listed", reason, version: "20", rewound: false });
  });

  test("a server that expires every version at once does not cause a hot loop", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), refused(410)], [initialEnd(9), refused(410)], [initialEnd(9)]],
    });
    expect(log.filter((line) => line.startsWith("wait"))).toEqual(["wait 200", "wait 400"]);
  });

  test("closed after silence resumes from its version if it had worked", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), put("ns/a", 10), new KubeTimeoutError("no byte")], [bookmark(11)]],
    });
    expect(log).toEqual(["open initial", "close", "wait 200", "open 10", "close"]);
  });

  test("silent from beginning to end probes the server's version: its storage may have been restored", async () => {
    const silent = new KubeTimeoutError("no byte");
    const same = await play({ connections: [[initialEnd(90), silent], [bookmark(91)]], currentVersion: "90" });
    expect(same.log).toEqual(["open initial", "close", "probe", "open 90", "close"]);

    const rewound = await play({
      connections: [
        [put("ns/a", 80), initialEnd(90), silent],
        [put("ns/b", 40), initialEnd(50), bookmark(51)],
      ],
      currentVersion: "50",
    });
    expect(rewound.log).toEqual(["open initial", "close", "probe", "open initial", "close"]);
    expect(rewound.held).toEqual(["ns/b@40"]);
    expect(rewound.notes).toContainEqual({ type: "listed", reason: "rewound", version: "50", rewound: true });
  });
});

describe("a namespace that cannot be read", () => {
  test.each([403, 404])("one of several (%i) is retried at its own interval", async (status) => {
    const { log, notes } = await play({ optional: true, connections: [[refused(status)], [initialEnd(9)]] });
    expect(log).toEqual(["open initial", "close", "wait 30000", "open initial", "close"]);
    expect(notes.map(({ type }) => type)).toEqual(["unavailable", "listed"]);
  });

  test("that becomes unreadable keeps its version and its objects", async () => {
    const { log, held } = await play({
      optional: true,
      connections: [[initialEnd(9), put("ns/a", 10), "end"], [refused(403)], [bookmark(11)]],
    });
    expect(log).toEqual(["open initial", "close", "open 10", "close", "wait 30000", "open 10", "close"]);
    expect(held).toEqual(["ns/a@10"]);
  });

  test("that is the only one is an ordinary failure", async () => {
    const { log, notes } = await play({ connections: [[refused(403)], [refused(403)], [initialEnd(9)]] });
    expect(log.filter((line) => line.startsWith("wait"))).toEqual(["wait 200", "wait 400"]);
    expect(notes.map(({ type }) => type)).toEqual(["failed", "failed", "listed"]);
  });
});

test("a defect in the store stops the reflector instead of counting as a broken connection", async () => {
  const { io } = scripted({ connections: [[initialEnd(9), put("ns/a", 10)]] });
  const writer = { ...io.writer, beginRelist: () => io.writer.beginRelist() };
  const defect = new Error("defect");
  const put$ = (): never => {
    throw defect;
  };
  await expect(runReflector({ ...io, writer: { ...writer, put: put$ } })).rejects.toBe(defect);
});

test("one step performs one operation", async () => {
  const stream: EventStream<ConfigMap> = { next: async () => bookmark(12), close: async () => undefined };
  const { io, scope } = scripted({});
  const watching: ReflectorState<ConfigMap> = {
    type: "watching",
    version: "9",
    proven: false,
    failures: 3,
    stream,
    openedMs: 0,
    delivered: false,
  };
  expect(await step(watching, io)).toEqual({ ...watching, version: "12", proven: true, failures: 0, delivered: true });
  expect(scope.position).toBe("12");
});
