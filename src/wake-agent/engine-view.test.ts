// An agent that may not read engines (wake mode "demand"): what it learns from endpoints alone.
import { MemoryCache } from "@firebolt-operator/kube/testing";
import { beforeEach, expect, test } from "vitest";
import { type AvailabilityChange, EngineView, indexSlices, WatchHealth } from "./engine-view.ts";
import { EndpointSlice, trimSlice } from "./kinds.ts";

let slices: MemoryCache<EndpointSlice>;
let watchHealth: { engines: WatchHealth; slices: WatchHealth };
let view: EngineView;
let changes: AvailabilityChange[];

beforeEach(() => {
  slices = new MemoryCache(EndpointSlice, indexSlices.engine);
  watchHealth = { engines: new WatchHealth(), slices: new WatchHealth() };
  view = new EngineView({ namespace: "ns", engines: undefined, slices, watchHealth, firstEpoch: 1 });
  view.open();
  changes = [];
  view.onChange((change) => changes.push(change));
});

const sliceOf = (engine: string, pods: readonly string[]): EndpointSlice =>
  trimSlice({
    metadata: { name: `${engine}-x`, namespace: "ns", labels: { "kubernetes.io/service-name": `${engine}-service` } },
    endpoints: pods.map((name) => ({ targetRef: { name }, conditions: { ready: true } })),
  });

test("it is synced once endpoints have been listed", () => {
  expect([view.complete, view.knowsEndpoints]).toEqual([false, false]);
  watchHealth.slices.observer.relisted?.("start" as never);
  expect([view.complete, view.knowsEndpoints]).toEqual([true, true]);
});

test("an engine with a Service exists: unavailable without endpoints, ready with one; a name without a Service is unknown", () => {
  slices.put(sliceOf("e", []));
  expect([view.availability("e"), view.availability("nobody")]).toEqual(["unavailable", "unknown"]);
  slices.put(sliceOf("e", ["e-g1-0"]));
  expect(view.availability("e")).toBe("ready");
  slices.remove({ namespace: "ns", name: "e-x" });
  expect(view.availability("e")).toBe("unknown");
  expect(changes.map(({ from, to }) => `${from} > ${to}`)).toEqual([
    "unknown > unavailable",
    "unavailable > ready",
    "ready > unknown",
  ]);
});

test("the epoch increases as soon as an engine loses its endpoints", () => {
  slices.put(sliceOf("e", ["e-g0-0"]));
  const { epoch } = view;
  slices.put(sliceOf("e", []));
  expect(view.epoch).toBeGreaterThan(epoch);
});

test("there is no engine to write a wake request to, and a broken watch of engines does not matter", () => {
  slices.put(sliceOf("e", []));
  watchHealth.engines.observer.failed?.(new Error("forbidden"));
  expect(view.engine("e")).toBeUndefined();
  watchHealth.slices.observer.relisted?.("start" as never);
  expect(view.complete).toBe(true);
});
