// An agent that may not read engines (wake mode "demand"): what it knows of them from their endpoints alone.
import { MemoryCache } from "@firebolt-operator/kube/testing";
import { beforeEach, expect, test } from "vitest";
import { EngineView, indexSlices, Sight, type StandingChange } from "./engine-view.ts";
import { EndpointSlice, trimSlice } from "./kinds.ts";

let slices: MemoryCache<EndpointSlice>;
let sights: { engines: Sight; slices: Sight };
let view: EngineView;
let changes: StandingChange[];

beforeEach(() => {
  slices = new MemoryCache(EndpointSlice, indexSlices.engine);
  sights = { engines: new Sight(), slices: new Sight() };
  view = new EngineView({ namespace: "ns", engines: undefined, slices, sights, firstEpoch: 1 });
  view.open();
  changes = [];
  view.onChange((change) => changes.push(change));
});

const sliceOf = (engine: string, pods: readonly string[]): EndpointSlice =>
  trimSlice({
    metadata: { name: `${engine}-x`, namespace: "ns", labels: { "kubernetes.io/service-name": `${engine}-service` } },
    endpoints: pods.map((name) => ({ targetRef: { name }, conditions: { ready: true } })),
  });

test("it knows everything it can know once endpoints have been listed", () => {
  expect([view.complete, view.knowsEndpoints]).toEqual([false, false]);
  sights.slices.observer.relisted?.("start" as never);
  expect([view.complete, view.knowsEndpoints]).toEqual([true, true]);
});

test("who has a Service exists: away without endpoints, ready with one; a name without a Service is unknown", () => {
  slices.put(sliceOf("e", []));
  expect([view.standing("e"), view.standing("nobody")]).toEqual(["away", "unknown"]);
  slices.put(sliceOf("e", ["e-g1-0"]));
  expect(view.standing("e")).toBe("ready");
  slices.remove({ namespace: "ns", name: "e-x" });
  expect(view.standing("e")).toBe("unknown");
  expect(changes.map(({ from, to }) => `${from} > ${to}`)).toEqual([
    "unknown > away",
    "away > ready",
    "ready > unknown",
  ]);
});

test("what was told before no longer holds as soon as an engine loses its endpoints", () => {
  slices.put(sliceOf("e", ["e-g0-0"]));
  const { epoch } = view;
  slices.put(sliceOf("e", []));
  expect(view.epoch).toBeGreaterThan(epoch);
});

test("nothing is there to be stamped, and a broken watch of engines is none of its business", () => {
  slices.put(sliceOf("e", []));
  sights.engines.observer.failed?.(new Error("forbidden"));
  expect(view.engine("e")).toBeUndefined();
  sights.slices.observer.relisted?.("start" as never);
  expect(view.complete).toBe(true);
});
