import { describe, expect, test } from "vitest";
import { CONFIG_MAPS, type ConfigMap, configMap, shapeConfigMap } from "../../test/support/cache-fixtures.ts";
import { silentLogger } from "../core/logger.ts";
import { copyJson, createShaper, MalformedObjectError } from "./stored-object.ts";

describe("shaping an object for the store", () => {
  test("drops managedFields and keeps everything else", () => {
    const labels = { app: "a" };
    const { object } = shapeConfigMap({
      ...configMap("ns/a", 7, { labels, managedFields: [{ manager: "x" }] }),
      data: { key: "value" },
    });
    expect(object).toEqual({ ...configMap("ns/a", 7, { labels }), data: { key: "value" } });
  });

  test("adds the kind and apiVersion that the server omits in lists", () => {
    const { object } = shapeConfigMap({ metadata: { name: "a", namespace: "ns", resourceVersion: "1" } });
    expect(object).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
  });

  test("freezes deeply on request, so that a reader cannot modify a shared object", () => {
    const { object } = shapeConfigMap({ ...configMap("ns/a", 1, { finalizers: ["f"] }), data: { key: "value" } });
    expect(() => Object.assign(object.data ?? {}, { key: "other" })).toThrow(TypeError);
    expect(Object.isFrozen(object.metadata?.finalizers)).toBe(true);
  });

  test("trims, and keeps the whole object if trimming fails", () => {
    const trim = ({ data, ...rest }: ConfigMap): ConfigMap => {
      if (data?.["key"] === "bad") throw new Error("cannot trim this");
      return rest;
    };
    const shape = createShaper({ type: CONFIG_MAPS, logger: silentLogger, trim });
    expect(shape({ ...configMap("ns/a", 1), data: { key: "value" } }).object).toEqual(configMap("ns/a", 1));
    expect(shape({ ...configMap("ns/a", 1), data: { key: "bad" } }).object.data).toEqual({ key: "bad" });
  });

  test("keeps the identity of an object whose trimming removed it", () => {
    const shape = createShaper({ type: CONFIG_MAPS, logger: silentLogger, trim: () => ({}) });
    expect(shape(configMap("ns/a", 3))).toMatchObject({ namespace: "ns", name: "a", uid: "uid-a", version: "3" });
  });

  test.each([
    ["no metadata", {}],
    ["no name", { metadata: { resourceVersion: "1" } }],
    ["no version", { metadata: { name: "a" } }],
    ["an empty version", { metadata: { name: "a", resourceVersion: "" } }],
  ])("refuses an object with %s", (_, object) => {
    expect(() => shapeConfigMap(object)).toThrow(MalformedObjectError);
  });
});

test("a copy shares nothing with its original", () => {
  const original = { list: [{ deep: { value: 1 } }], text: "t", none: null, flag: false };
  const copy = copyJson(original);
  expect(copy).toEqual(original);
  original.list[0] = { deep: { value: 2 } };
  expect(copy).toMatchObject({ list: [{ deep: { value: 1 } }] });
});
