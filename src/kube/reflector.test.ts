import { describe, expect, test } from "vitest";
import { type ConfigMap, entry, held, recordingStore } from "../../test/support/cache-fixtures.ts";
import { type ApiStatus, KubeApiError, KubeConnectionError, KubeTimeoutError } from "./errors.ts";
import { runReflector, step } from "./reflector.ts";
import type { EventStream, ReflectorEvent, ReflectorIo, ReflectorNote, ReflectorState } from "./reflector-states.ts";
import { StoreScope } from "./store-scope.ts";

type Event = ReflectorEvent<ConfigMap>;
type Happening = Event | "end" | Error;
type PageAnswer = {
  readonly entries: readonly (readonly [string, number])[];
  readonly version: string;
  readonly token?: string;
};

const put = (key: string, version: number): Event => ({ type: "put", entry: entry(key, version) });
const remove = (key: string, version: number): Event => ({ type: "remove", entry: entry(key, version) });
const bookmark = (version: number): Event => ({ type: "bookmark", version: String(version), initialEnd: false });
const initialEnd = (version: number): Event => ({ type: "bookmark", version: String(version), initialEnd: true });
const refused = (status: number, body: ApiStatus = {}): KubeApiError => new KubeApiError("watch", status, body);
const broken = new KubeConnectionError("connection reset");

interface Script {
  /** What each connection delivers, in the order in which they are opened. */
  readonly connections?: readonly (readonly Happening[])[];
  readonly pages?: readonly (PageAnswer | Error)[];
  readonly currentVersion?: string;
  readonly streaming?: boolean;
  readonly optional?: boolean;
  /** How long each event takes to arrive. */
  readonly eventMs?: number;
}

/** Answers from a script; when the script is over, the reflector is told to stop. */
function scripted(script: Script) {
  const { store, told } = recordingStore();
  const scope = new StoreScope(store);
  const log: string[] = [];
  const notes: ReflectorNote[] = [];
  const connections = [...(script.connections ?? [])];
  const pages = [...(script.pages ?? [])];
  let streaming = script.streaming ?? true;
  let over = false;
  let nowMs = 0;
  const finish = (): never => {
    over = true;
    throw new Error("the script is over");
  };
  const io: ReflectorIo<ConfigMap> = {
    timings: { backoff: { baseMs: 200, maxMs: 30_000 }, unavailableRetryMs: 30_000, provenMs: 10_000 },
    writer: scope,
    optional: script.optional ?? false,
    streamingOffered: () => streaming,
    open: (version) => {
      log.push(`open ${version ?? "initial"}`);
      const happenings = [...(connections.shift() ?? finish())];
      return {
        next: async () => {
          nowMs += script.eventMs ?? 0;
          const next = happenings.shift() ?? finish();
          if (next instanceof Error) throw next;
          return next === "end" ? undefined : next;
        },
        close: async () => void log.push("close"),
      };
    },
    page: async (token) => {
      log.push(`page ${token ?? "first"}`);
      const page = pages.shift() ?? finish();
      if (page instanceof Error) throw page;
      return { entries: page.entries.map(([key, at]) => entry(key, at)), version: page.version, token: page.token };
    },
    currentVersion: async () => {
      log.push("probe");
      return script.currentVersion ?? finish();
    },
    wait: async (delayMs) => void log.push(`wait ${delayMs}`),
    monotonicMs: () => nowMs,
    random: () => 1,
    stopped: () => over,
    report: (note) => {
      notes.push(note);
      if (note.type === "streamingRefused") streaming = false;
    },
  };
  return { io, store, told, log, notes, scope };
}

async function play(script: Script) {
  const played = scripted(script);
  await runReflector(played.io);
  return { ...played, told: played.told(), held: held(played.store) };
}

describe("the first list", () => {
  test("arrives as events, shows as a whole, and the same connection goes on as the watch", async () => {
    const { log, told } = await play({
      connections: [[put("ns/a", 3), put("ns/b", 2), remove("ns/b", 8), initialEnd(9), put("ns/c", 10)]],
    });
    expect(log).toEqual(["open initial", "close"]);
    expect(told).toEqual(["added ns/a@3 watch", "added ns/c@10 watch"]);
  });

  test.each([400, 422])("falls back to pages for good when the server refuses with %i", async (status) => {
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

  test("falls back to pages when the server ignores the wish and sends an ordinary bookmark", async () => {
    const { log, notes } = await play({ connections: [[put("ns/a", 3), bookmark(9)]] });
    expect(log).toEqual(["open initial", "close", "page first"]);
    expect(notes.map(({ type }) => type)).toEqual(["streamingRefused"]);
  });

  test.each([
    ["breaks", broken],
    ["ends early", "end"],
    ["has an event that cannot be read", new SyntaxError("broken JSON")],
  ] as const)("that %s shows nothing and is asked for again, later and later", async (_, happening) => {
    const { log, told } = await play({
      connections: [[put("ns/a", 3), happening], [happening], [put("ns/b", 4), initialEnd(9)]],
    });
    expect(log.filter((line) => line !== "close")).toEqual([
      "open initial",
      "wait 200",
      "open initial",
      "wait 400",
      "open initial",
    ]);
    expect(told).toEqual(["added ns/b@4 watch"]);
  });

  test("a page whose continue token has expired starts the list anew", async () => {
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
  test("ended by the server continues at once from the last event or bookmark", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), put("ns/a", 10), "end"], [bookmark(15), "end"], [bookmark(15)]],
    });
    expect(log).toEqual(["open initial", "close", "open 10", "close", "open 15", "close"]);
  });

  test("that breaks continues after a while; failures in a row wait longer, one that worked starts over", async () => {
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

  test("that ends again and again without a word slows down", async () => {
    const { log } = await play({ connections: [[initialEnd(9), "end"], ["end"], ["end"], [bookmark(10)]] });
    expect(log.filter((line) => line.startsWith("wait"))).toEqual(["wait 200", "wait 400", "wait 800"]);
  });

  test("that lasted has worked, even in silence", async () => {
    const { log } = await play({
      eventMs: 10_000,
      connections: [[initialEnd(9), "end"], ["end"], [broken], [broken], [bookmark(10)]],
    });
    expect(log.filter((line) => line.startsWith("wait"))).toEqual(["wait 200", "wait 200"]);
  });

  test("waits as long as the server asks", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), refused(429, { details: { retryAfterSeconds: 7 } })], [bookmark(10)]],
    });
    expect(log).toContain("wait 7000");
  });

  test.each([
    ["410 when continuing", [[initialEnd(9), put("ns/a", 10), broken], [refused(410)]], "expired"],
    ["410 in the middle", [[initialEnd(9), put("ns/a", 10), refused(410)]], "expired"],
    ["an event that cannot be read", [[initialEnd(9), put("ns/a", 10), new TypeError("no name")]], "undecodable"],
    ["a bookmark from the past", [[initialEnd(9), put("ns/a", 10), bookmark(5)]], "rewound"],
  ] as const)("%s: lists again and loses no deletion", async (_, connections, reason) => {
    const { log, told, notes } = await play({
      connections: [...connections, [put("ns/b", 11), initialEnd(20), bookmark(21)]],
    });
    expect(log.filter((line) => line === "open initial")).toHaveLength(2);
    expect(told).toEqual(["added ns/a@10 watch", "deleted ns/a@10 watch", "added ns/b@11 watch"]);
    expect(notes).toContainEqual({ type: "listed", reason, version: "20", rewound: false });
  });

  test("a server that expires every version at once does not make the reflector spin", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), refused(410)], [initialEnd(9), refused(410)], [initialEnd(9)]],
    });
    expect(log.filter((line) => line.startsWith("wait"))).toEqual(["wait 200", "wait 400"]);
  });

  test("broken by silence after it had worked continues where it was", async () => {
    const { log } = await play({
      connections: [[initialEnd(9), put("ns/a", 10), new KubeTimeoutError("no byte")], [bookmark(11)]],
    });
    expect(log).toEqual(["open initial", "close", "wait 200", "open 10", "close"]);
  });

  test("silent from beginning to end asks where the server is: it may have been restored", async () => {
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

describe("a namespace that may not be read", () => {
  test.each([403, 404])("one of several (%i) is tried again in its own time", async (status) => {
    const { log, notes } = await play({ optional: true, connections: [[refused(status)], [initialEnd(9)]] });
    expect(log).toEqual(["open initial", "close", "wait 30000", "open initial", "close"]);
    expect(notes.map(({ type }) => type)).toEqual(["unavailable", "listed"]);
  });

  test("taken away later keeps its place and its objects", async () => {
    const { log, held } = await play({
      optional: true,
      connections: [[initialEnd(9), put("ns/a", 10), "end"], [refused(403)], [bookmark(11)]],
    });
    expect(log).toEqual(["open initial", "close", "open 10", "close", "wait 30000", "open 10", "close"]);
    expect(held).toEqual(["ns/a@10"]);
  });

  test("the only one is a failure like any other", async () => {
    const { log, notes } = await play({ connections: [[refused(403)], [refused(403)], [initialEnd(9)]] });
    expect(log.filter((line) => line.startsWith("wait"))).toEqual(["wait 200", "wait 400"]);
    expect(notes.map(({ type }) => type)).toEqual(["failed", "failed", "listed"]);
  });
});

test("a defect in the store ends the reflector instead of being taken for a broken connection", async () => {
  const { io } = scripted({ connections: [[initialEnd(9), put("ns/a", 10)]] });
  const writer = { ...io.writer, beginRelist: () => io.writer.beginRelist() };
  const defect = new Error("defect");
  const put$ = (): never => {
    throw defect;
  };
  await expect(runReflector({ ...io, writer: { ...writer, put: put$ } })).rejects.toBe(defect);
});

test("one step does one thing", async () => {
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
