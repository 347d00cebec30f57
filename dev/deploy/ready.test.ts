import { expect, test } from "vitest";
import type { EngineView } from "../../src/plugin/status/engine-view.ts";
import type { InstanceView, PlatformView } from "../../src/plugin/status/platform-view.ts";
import { createTeller, missingOf } from "./ready.ts";

const READY = { type: "Ready", status: "True", reason: "EngineReady", message: "", lastTransitionTime: "" } as const;

const engine = (over: Partial<EngineView> = {}): EngineView => ({
  namespace: "ns",
  name: "adhoc",
  instance: "lakeside",
  engineClass: undefined,
  replicas: 1,
  phase: "stable",
  ready: READY,
  createdAt: undefined,
  upToDate: true,
  autoStopReason: undefined,
  generations: [],
  waits: undefined,
  ...over,
});

const instance = (over: Partial<InstanceView> = {}): InstanceView => ({
  namespace: "ns",
  name: "lakeside",
  phase: "Ready",
  createdAt: undefined,
  components: [{ name: "gateway", ready: 2, wanted: 2 }],
  selection: { defaultEngine: "", hostDomains: [] },
  engines: [engine()],
  waits: undefined,
  ...over,
});

const view = (...instances: readonly InstanceView[]): PlatformView => ({ instances, strayEngines: [] });
const wait = (why: string) => ({ reason: "x", why, next: undefined });

test("a complete platform misses nothing", () => {
  expect(missingOf(view(instance()), { instances: ["lakeside"], engines: ["adhoc"] })).toEqual([]);
});

test.each([
  { name: "nothing at all", seen: view(), want: { what: "instance", why: "there is none" } },
  {
    name: "an instance that is not ready",
    seen: view(instance({ phase: "Provisioning", waits: wait("no ready replica") })),
    want: { what: "instance lakeside", why: "no ready replica" },
  },
  {
    name: "a component without all of its pods, although the instance is Ready",
    seen: view(instance({ components: [{ name: "postgres", ready: 0, wanted: 1 }] })),
    want: { what: "postgres of lakeside", why: "0 of 1 pods ready" },
  },
  {
    name: "an engine on its way",
    seen: view(instance({ engines: [engine({ phase: "creating", waits: wait("0 of 1 pods ready") })] })),
    want: { what: "engine adhoc", why: "0 of 1 pods ready" },
  },
  {
    name: "an engine that is stable on its last spec but not on the newest",
    seen: view(instance({ engines: [engine({ upToDate: false })] })),
    want: { what: "engine adhoc", why: "is stable" },
  },
  {
    name: "an engine that is stable but not ready",
    seen: view(instance({ engines: [engine({ ready: { ...READY, status: "False" } })] })),
    want: { what: "engine adhoc", why: "is stable" },
  },
])("$name is missing", ({ seen, want }) => expect(missingOf(seen, {})).toEqual([want]));

test("a stopped engine counts as ready", () => {
  const stopped = engine({ phase: "stopped", ready: { ...READY, status: "False" }, replicas: 0 });
  expect(missingOf(view(instance({ engines: [stopped] })), {})).toEqual([]);
});

test("objects requested by name must exist; an engine without its instance counts", () => {
  const seen = { instances: [], strayEngines: [engine()] };
  expect(missingOf(seen, { instances: ["lakeside"], engines: ["adhoc", "reporting"] })).toEqual([
    { what: "instance lakeside", why: "does not exist yet" },
    { what: "engine reporting", why: "does not exist yet" },
  ]);
});

test("each reason is reported once, and again after a while", () => {
  const lines: string[] = [];
  const tell = createTeller((line) => lines.push(line), 0);
  const [a, b] = [
    { what: "a", why: "starts" },
    { what: "b", why: "starts" },
  ];
  tell([a, b], 100);
  tell([a, b], 600);
  tell([{ ...a, why: "pulls" }, b], 1_100);
  tell([b], 5_000);
  tell([b], 6_200);
  expect(lines).toEqual(["a: starts", "b: starts", "a: pulls", "still waiting for b"]);
});
