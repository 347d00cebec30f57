import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compareQuantities,
  compareStored,
  equalQuantities,
  formatQuantity,
  ONE,
  parseQuantity,
  roundedToMilli,
} from "./quantity.ts";

describe("parseQuantity", () => {
  test.each([
    ["0", 0n],
    ["1", ONE],
    ["+1", ONE],
    ["-1", -ONE],
    ["1.5", 1_500_000_000n],
    ["1.", ONE],
    [".5", 500_000_000n],
    ["1500m", 1_500_000_000n],
    ["1n", 1n],
    ["1u", 1_000n],
    ["1k", 1_000n * ONE],
    ["1Ki", 1_024n * ONE],
    ["1024Mi", 2n ** 30n * ONE],
    ["1Gi", 2n ** 30n * ONE],
    ["0.5Gi", 2n ** 29n * ONE],
    ["1e3", 1_000n * ONE],
    ["1E3", 1_000n * ONE],
    ["1E", 10n ** 18n * ONE],
    ["12e-2", 120_000_000n],
    ["1.5e+1", 15n * ONE],
    // Finer than a billionth is rounded away from zero.
    ["0.1n", 1n],
    ["-0.1n", -1n],
    ["1e-999999", 1n],
    // Binary quantities are capped at 64 bits, decimal ones are not.
    ["100Ei", (2n ** 63n - 1n) * ONE],
    ["100E", 100n * 10n ** 18n * ONE],
    [2, 2n * ONE],
    [1.5, 1_500_000_000n],
  ])("%s", (text, want) => {
    expect(parseQuantity(text)).toBe(want);
  });

  test.each([
    "",
    "two",
    "1 Gi",
    "1gi",
    "1K",
    "--1",
    "1e",
    "1e1.5",
    "1Gi3",
    ".",
    "1e99999",
    "0x10",
    null,
    undefined,
    {},
  ])("%s is not a quantity", (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  test("a long string or exponent is cheap", () => {
    const started = process.cpuUsage();
    const quantities = ["9".repeat(10_000_000), "1e1000000000"].map(parseQuantity);
    const { user, system } = process.cpuUsage(started);
    expect(quantities).toEqual([undefined, undefined]);
    expect((user + system) / 1000).toBeLessThan(500);
  });
});

test("comparison is by value, not by string", () => {
  expect(equalQuantities("1Gi", "1024Mi")).toBe(true);
  expect(compareQuantities("1500m", "2")).toBe(-1);
  expect(compareQuantities("1G", "1Gi")).toBe(-1);
  expect(compareQuantities("2", "1999m")).toBe(1);
  expect(compareQuantities("lots", "1")).toBeUndefined();
});

test("a resource list keeps thousandths and rounds up", () => {
  expect(roundedToMilli(1n)).toBe(1_000_000n);
  expect(roundedToMilli(1_000_001n)).toBe(2_000_000n);
  expect(roundedToMilli(ONE)).toBe(ONE);
});

describe("formatQuantity", () => {
  test.each([
    ["1024Mi", "1Gi"],
    ["1073741824", "1Gi"],
    ["1000000000", "1G"],
    ["1e12", "1T"],
    ["1.5", "1500m"],
    ["1500Mi", "1500Mi"],
    ["0Gi", "0"],
    ["-1Gi", "-1Gi"],
  ])("%s is %s", (text, want) => {
    expect(formatQuantity(parseQuantity(text) ?? 0n)).toBe(want);
  });

  test("parses to the same value", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (value) => {
        expect(parseQuantity(formatQuantity(value))).toBe(value);
      }),
    );
  });
});

test("compares what the API server stores: differences below a thousandth do not count", () => {
  expect(compareQuantities("1.0001Gi", "1073849198183m")).toBe(-1);
  expect(compareStored("1.0001Gi", "1073849198183m")).toBe(0);
  expect([compareStored("1.0001Gi", "1073849198184m"), compareStored("1.0001Gi", "1Gi")]).toEqual([-1, 1]);
  expect(compareStored("1Gi", "one")).toBeUndefined();
});
