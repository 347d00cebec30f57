import { expect, test } from "vitest";
import { type ConfigMap, entry } from "../../test/support/cache-fixtures.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import { StoreIndex } from "./store-index.ts";

const byApp = (logger: Logger = silentLogger): StoreIndex<ConfigMap> =>
  new StoreIndex("app", (object) => (object.metadata?.labels?.["app"] ?? "").split("+").filter(Boolean), logger);
const app = (value: string) => ({ labels: { app: value } });

test("indexes an object under every value, once each", () => {
  const index = byApp();
  const both = entry("ns/a", 1, app("x+y+x"));
  index.add(both);
  expect(index.objects("x")).toEqual([both.object]);
  expect(index.objects("y")).toEqual([both.object]);
  expect(index.objects("z")).toEqual([]);
});

test("returns objects in key order, regardless of insertion order", () => {
  const index = byApp();
  for (const key of ["b/a", "a/c", "a/b", "b/0"]) index.add(entry(key, 1, app("x")));
  expect(index.objects("x").map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)).toEqual([
    "a/b",
    "a/c",
    "b/0",
    "b/a",
  ]);
});

test("a changed bucket is rebuilt, an unchanged one is not", () => {
  const index = byApp();
  const first = entry("ns/a", 1, app("x"));
  index.add(first);
  const view = index.objects("x");
  expect(index.objects("x")).toBe(view);
  index.add(entry("ns/b", 2, app("x")));
  expect(index.objects("x")).toHaveLength(2);
  expect(view).toHaveLength(1);
});

test("removes values without objects", () => {
  const index = byApp();
  const only = entry("ns/a", 1, app("x+y"));
  index.add(only);
  index.remove(only);
  expect(index.values).toBe(0);
});

test("an index function that throws omits the object and logs an error", () => {
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (_, error) => errors.push(error) };
  const index = new StoreIndex<ConfigMap>(
    "broken",
    () => {
      throw new Error("no such field");
    },
    logger,
  );
  index.add(entry("ns/a", 1));
  expect(index.values).toBe(0);
  expect(errors).toEqual([new Error("no such field")]);
});
