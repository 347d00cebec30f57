import { describe, expect, test } from "vitest";
import { jsonHash } from "../../podtemplate/content-hash.ts";
import { deepMerge, resolveCustomConfig, stripOwnedPaths } from "./custom-config.ts";

describe("what the operator owns is taken out, silently", () => {
  test.each([
    [{ schema_version: "9", endpoints: {}, logging: { level: "x" } }, { logging: { level: "x" } }],
    [{ instance: { id: "x", type: "y", multi_engine: { a: 1 }, auth: {}, keep: 1 } }, { instance: { keep: 1 } }],
    [{ engine: { id: "x", nodes: [], termination_grace_period: "1s", keep: 1 } }, { engine: { keep: 1 } }],
    [{ instance: { id: "x" }, engine: {} }, {}],
    [{ instance: "text", engine: ["a"] }, {}],
    [{ logging: {} }, { logging: {} }],
    [undefined, {}],
    [["a"], {}],
  ])("%j leaves %j", (config, want) => {
    expect(stripOwnedPaths(config)).toEqual(want);
  });
});

describe("deepMerge", () => {
  test("objects merge, everything else is replaced", () => {
    expect(deepMerge({ a: { x: 1, y: [1] }, b: { c: 1 }, d: 1 }, { a: { y: [2], z: 3 }, b: 2, d: { e: 1 } })).toEqual({
      a: { x: 1, y: [2], z: 3 },
      b: 2,
      d: { e: 1 },
    });
  });

  test("the order in which the user wrote keys does not show", () => {
    const base = { first: 1 };
    expect(JSON.stringify(deepMerge(base, { z: 1, a: { y: 1, b: [{ d: 1, c: 2 }] } }))).toBe(
      '{"first":1,"a":{"b":[{"c":2,"d":1}],"y":1},"z":1}',
    );
  });

  test("a key named __proto__ is a key", () => {
    const merged = deepMerge({}, JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":1}}'));
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":true},"a":{"__proto__":1}}');
    expect("polluted" in {}).toBe(false);
  });
});

describe("resolveCustomConfig", () => {
  test("the class lies below the engine", () => {
    const { config, hash } = resolveCustomConfig(
      { storage: { a: 1, b: 1 }, instance: { id: "stolen" } },
      { storage: { b: 2 }, engine: { nodes: ["stolen"] } },
    );
    expect(config).toEqual({ storage: { a: 1, b: 2 } });
    expect(hash).toBe(jsonHash(config));
  });

  test("nothing left means no hash", () => {
    expect(resolveCustomConfig({ engine: { id: "x" } }, { schema_version: "2" })).toEqual({
      config: {},
      hash: undefined,
    });
  });

  test("what is stripped leaves no trace in the hash", () => {
    expect(resolveCustomConfig(undefined, { a: 1, instance: { id: "x" } }).hash).toBe(
      resolveCustomConfig({ a: 1 }, {}).hash,
    );
  });
});
