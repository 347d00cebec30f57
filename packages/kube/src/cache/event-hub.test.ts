import { expect, test } from "vitest";
import { type ConfigMap, entry } from "../../test/support/cache-fixtures.ts";
import type { CacheEvent } from "./cache.ts";
import { EventHub } from "./event-hub.ts";

const added = (name: string): CacheEvent<ConfigMap> => ({
  type: "added",
  object: entry(`ns/${name}`, 1).object,
  origin: "watch",
});
const nameOf = (event: CacheEvent<ConfigMap>): string => event.object.metadata?.name ?? "";

function hub(): { readonly hub: EventHub<ConfigMap>; readonly failures: unknown[] } {
  const failures: unknown[] = [];
  return { hub: new EventHub((error) => failures.push(error)), failures };
}

test("a late listener first receives the current state", () => {
  const seen: string[] = [];
  hub().hub.subscribe((event) => seen.push(nameOf(event)), [added("a"), added("b")]);
  expect(seen).toEqual(["a", "b"]);
});

test("a listener that throws does not affect the others, and the failure is reported", () => {
  const { hub: events, failures } = hub();
  const seen: string[] = [];
  events.subscribe(() => {
    throw new Error("broken listener");
  }, []);
  events.subscribe((event) => seen.push(nameOf(event)), []);
  events.emit([added("a"), added("b")]);
  expect(seen).toEqual(["a", "b"]);
  expect(failures).toEqual([new Error("broken listener"), new Error("broken listener")]);
});

test("a listener that unsubscribes during a delivery receives nothing more, not even of the same batch", () => {
  const { hub: events } = hub();
  const seen: string[] = [];
  const unsubscribeOther = events.subscribe((event) => seen.push(`other ${nameOf(event)}`), []);
  const unsubscribe = events.subscribe((event) => {
    seen.push(nameOf(event));
    unsubscribe();
    unsubscribeOther();
  }, []);
  events.emit([added("a"), added("b")]);
  events.emit([added("c")]);
  expect(seen).toEqual(["other a", "a"]);
});

test("a listener that subscribes during a delivery receives the current state and no event twice", () => {
  const { hub: events } = hub();
  const late: string[] = [];
  let subscribed = false;
  events.subscribe(() => {
    if (subscribed) return;
    subscribed = true;
    // The store already holds the whole batch when its first event is delivered.
    events.subscribe((event) => late.push(nameOf(event)), [added("a"), added("b")]);
  }, []);
  events.emit([added("a"), added("b")]);
  expect(late).toEqual(["a", "b"]);
  events.emit([added("c")]);
  expect(late).toEqual(["a", "b", "c"]);
});

test("events emitted during a delivery are delivered after it", () => {
  const { hub: events } = hub();
  const seen: string[] = [];
  events.subscribe((event) => {
    if (nameOf(event) === "a") events.emit([added("later")]);
  }, []);
  events.subscribe((event) => seen.push(nameOf(event)), []);
  events.emit([added("a"), added("b")]);
  expect(seen).toEqual(["a", "b", "later"]);
});
