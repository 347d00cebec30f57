// The observer of drains can fail: a good history, and for each way to delete a generation too early one that is found.
import { expect, test } from "vitest";
import { LABEL } from "../../../src/api/labels.ts";
import type { EngineHistory, Seen, SeenKind, SeenOf } from "../../engine/support/history.ts";
import { judgeDrains } from "./drain-invariants.ts";
import { type EngineReport, parseReport } from "./engine-reports.ts";

const START_MS = Date.parse("2026-01-01T12:00:00Z");
const SETTLE_MS = 5_000;
const time = (atMs: number): string => new Date(Math.floor((START_MS + atMs) / 1_000) * 1_000).toISOString();
const labels = (generation: number) => ({ [LABEL.engine]: "e", [LABEL.generation]: String(generation) });

type Entry = Pick<Seen, "kind" | "name" | "change" | "atMs"> & { readonly object: object };
const stored = { change: "stored" } as const;

const service = (generation: number, atMs: number): Entry => ({
  ...stored,
  kind: "Service",
  name: "e-service",
  atMs,
  object: { metadata: { managedFields: [{ time: time(atMs) }] }, spec: { selector: labels(generation) } },
});
const pod = (name: string): Entry => ({
  ...stored,
  kind: "Pod",
  name,
  atMs: 0,
  object: { metadata: { name, uid: `uid-${name}`, labels: labels(0) }, status: { phase: "Running" } },
});
const deleted = (atMs: number): Entry => ({
  ...stored,
  kind: "StatefulSet",
  name: "e-g0",
  atMs,
  object: { metadata: { name: "e-g0", uid: "s", labels: labels(0), deletionTimestamp: time(atMs) } },
});

function historyOf(entries: readonly Entry[]): EngineHistory {
  const all = entries.map((entry, index) => ({ ...entry, version: BigInt(index + 1) }) as unknown as Seen);
  const isOf = <K extends SeenKind>(entry: Seen, kind: K, name?: string): entry is Seen & SeenOf<K> =>
    entry.kind === kind && (name === undefined || entry.name === name);
  return {
    all: () => all,
    of: (kind, name) => all.filter((entry) => isOf(entry, kind, name)),
    latest: () => undefined,
    present: () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const from = (name: string, atMs: number) => ({ pod: name, uid: `uid-${name}`, atMs: START_MS + atMs });
const scraped = (name: string, atMs: number, running = 0, suspended = 0): EngineReport => ({
  ...from(name, atMs),
  type: "scraped",
  queries: [
    ["running", running],
    ["suspended", suspended],
  ],
});
const query = (type: "began" | "ended", atMs: number, label = "q"): EngineReport => ({
  ...from("e-g0-0", atMs),
  type,
  label,
  durationMs: 1,
});

/** Switched at 10 s, deleted at 20 s. */
const rolled = [pod("e-g0-0"), pod("e-g0-1"), service(0, 0), service(1, 10_000), deleted(20_500)];
const idle = [scraped("e-g0-0", 16_000), scraped("e-g0-1", 16_000)];
const judge = (reports: readonly EngineReport[], entries: readonly Entry[] = rolled) =>
  judgeDrains(historyOf(entries), reports, { settleMs: SETTLE_MS, epochMs: (atMs) => START_MS + atMs });

test("a generation whose pods all reported zero late enough may be deleted", () => {
  const early = [scraped("e-g0-0", 11_000, 2), query("began", 1_000), query("ended", 15_900)];
  expect(judge([...early, ...idle])).toEqual({ checked: ["e-g0"], broken: [] });
});

test("a generation that never served is ignored", () => {
  expect(judge([], [pod("e-g0-0"), service(1, 10_000), deleted(20_500)])).toEqual({ checked: [], broken: [] });
});

test("a generation without replicas has no pod to probe", () => {
  const stopped = { ...deleted(20_500), object: { ...deleted(20_500).object, spec: { replicas: 0 } } };
  expect(judge([], [service(0, 0), service(1, 10_000), stopped])).toEqual({ checked: [], broken: [] });
});

test.each<{ name: string; reports: readonly EngineReport[]; want: RegExp }>([
  { name: "a pod not probed", reports: idle.slice(1), want: /e-g0-0 was not probed 5000 ms after the switch/ },
  { name: "another not probed", reports: idle.slice(0, 1), want: /e-g0-1 was not probed/ },
  {
    name: "a probe right after the switch only",
    reports: [scraped("e-g0-0", 14_900), ...idle.slice(1)],
    want: /e-g0-0 was not probed/,
  },
  {
    name: "a probe after the deletion only",
    reports: [scraped("e-g0-0", 21_000), ...idle.slice(1)],
    want: /e-g0-0 was not probed/,
  },
  { name: "a busy pod", reports: [...idle, scraped("e-g0-1", 17_000, 1)], want: /e-g0-1 reported 1 running/ },
  {
    name: "a suspended query",
    reports: [...idle, scraped("e-g0-1", 17_000, 0, 1)],
    want: /e-g0-1 reported 0 running and 1 suspended/,
  },
  {
    name: "a query that no probe saw",
    reports: [...idle, query("began", 17_000, "a"), query("began", 17_500, "b"), query("ended", 18_000, "a")],
    want: /e-g0-0 ran the query b/,
  },
])("found: $name", ({ reports, want }) => {
  const { broken } = judge(reports);
  expect(broken).toHaveLength(1);
  expect(broken[0]).toMatch(want);
});

test("the time starts again when the Service went back and forth", () => {
  const back = [...rolled.slice(0, 4), service(0, 12_000), service(1, 13_000), deleted(20_500)];
  expect(judge(idle, back).broken).toHaveLength(2);
});

test("reports are read from the log of a container", () => {
  const line = (json: object) => `2026-01-01T12:00:00.123456789Z stdout F ${JSON.stringify(json)}`;
  const [began] = parseReport(line({ message: "query began", atMs: 7, label: "q", durationMs: 9 }), "p", "u");
  expect(began).toEqual({ pod: "p", uid: "u", atMs: 7, type: "began", label: "q", durationMs: 9 });
  const [scrape] = parseReport(line({ message: "scraped", atMs: 8, running: 1, suspended: 2 }), "p", "u");
  const queries = [
    ["running", 1],
    ["suspended", 2],
  ];
  expect(scrape).toEqual({ pod: "p", uid: "u", atMs: 8, type: "scraped", queries });
  expect(parseReport(line({ message: "ready" }), "p", "u")).toEqual([]);
  expect(parseReport("2026-01-01T12:00:00Z stderr F (node:1) Warning", "p", "u")).toEqual([]);
});
