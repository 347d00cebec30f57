// The duration patterns and parsers, against a table of what Go accepts, a reader written from Go's grammar, and each
// other.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DAY_DURATION_PATTERN,
  dayDurationMs,
  formatGoDuration,
  GO_DURATION_PATTERN,
  goDurationMs,
  parseDayDuration,
  parseGoDuration,
} from "./go-duration.ts";

const MS = 1_000_000n;
const MAX = 2n ** 63n - 1n;

describe("Go durations", () => {
  test.each([
    ["0", 0n],
    ["+0", 0n],
    ["-0", 0n],
    ["0s", 0n],
    ["5s", 5_000n * MS],
    ["+5s", 5_000n * MS],
    ["-5s", -5_000n * MS],
    [".5s", 500n * MS],
    ["1.s", 1_000n * MS],
    ["1.5h", 5_400_000n * MS],
    ["1h30m", 5_400_000n * MS],
    ["30m1h", 5_400_000n * MS],
    ["5s5s", 10_000n * MS],
    ["1us", 1_000n],
    ["1µs", 1_000n],
    ["1μs", 1_000n],
    ["1ns", 1n],
    ["0.5ns", 0n],
    ["007m", 420_000n * MS],
    ["2562047h47m16.854775807s", MAX],
    ["-2562047h47m16.854775808s", -MAX - 1n],
  ])("%s is %d ns", (text, nanoseconds) => {
    expect(text).toMatch(new RegExp(GO_DURATION_PATTERN));
    expect(parseGoDuration(text)).toBe(nanoseconds);
    expect(parseDayDuration(text)).toBe(nanoseconds);
  });

  test.each([
    "",
    "10",
    "00",
    "1",
    "-",
    "+",
    ".",
    ".s",
    "s",
    "1d",
    "5 s",
    " 5s",
    "5s ",
    "5S",
    "1h 30m",
    "--5s",
    "1.2.3s",
    "5s\n",
    "1e3s",
    "one",
  ])("%j is not a duration", (text) => {
    expect(text).not.toMatch(new RegExp(GO_DURATION_PATTERN));
    expect(parseGoDuration(text)).toBeUndefined();
  });

  test.each(["9223372036854775808ns", "2562047h47m16.854775808s", "-9223372036854775809ns", "300000000h"])(
    "%s does not fit 64 bits",
    (text) => {
      expect(parseGoDuration(text)).toBeUndefined();
    },
  );

  test.each([
    [0n, "0s"],
    [1n, "1ns"],
    [1_100n, "1.1µs"],
    [2_200_000n, "2.2ms"],
    [3_300_000_000n, "3.3s"],
    [90_000n * MS, "1m30s"],
    [86_430_000n * MS, "24h0m30s"],
    [-5_400_000n * MS, "-1h30m0s"],
    [-MAX - 1n, "-2562047h47m16.854775808s"],
  ])("%d ns is formatted as %s", (nanoseconds, text) => {
    expect(formatGoDuration(nanoseconds)).toBe(text);
  });

  test("milliseconds round down", () => {
    expect(goDurationMs("1500us")).toBe(1);
    expect(goDurationMs("-1500us")).toBe(-2);
    expect(goDurationMs("5x")).toBeUndefined();
  });

  test("a formatted value parses to the same value", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -MAX - 1n, max: MAX }), (nanoseconds) => {
        expect(parseGoDuration(formatGoDuration(nanoseconds))).toBe(nanoseconds);
      }),
    );
  });

  test("go-durations: the pattern accepts exactly what Go's grammar does", () => {
    const pieces = fc.constantFrom(
      "0",
      "1",
      "25",
      ".",
      "-",
      "+",
      "ns",
      "us",
      "µs",
      "μs",
      "ms",
      "s",
      "m",
      "h",
      "d",
      " ",
      "u",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 7 }), (parts) => {
        const text = parts.join("");
        expect([text, new RegExp(GO_DURATION_PATTERN).test(text)]).toEqual([text, readsAsGo(text, GO_UNITS)]);
        const legal = text === "" || readsAsGo(text, [...GO_UNITS, "d"]);
        expect([text, new RegExp(DAY_DURATION_PATTERN).test(text)]).toEqual([text, legal]);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("durations with days", () => {
  test.each([
    ["1d", 86_400_000],
    ["1.5d", 129_600_000],
    ["12h1d", 129_600_000],
    ["-1d12h", -129_600_000],
    ["30s", 30_000],
    ["0", 0],
  ])("%s is %d ms", (text, ms) => {
    expect(dayDurationMs(text)).toBe(ms);
  });

  test.each(["1 hour", "7", "1w", "d"])("%j is not a duration", (text) => {
    expect(text).not.toMatch(new RegExp(DAY_DURATION_PATTERN));
    expect(dayDurationMs(text)).toBeUndefined();
  });

  test("the empty string is valid and has no value", () => {
    expect("").toMatch(new RegExp(DAY_DURATION_PATTERN));
    expect(dayDurationMs("")).toBeUndefined();
  });
});

const GO_UNITS = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];

/**
 * Go's own way through the text: a sign, a lone zero, then digits, a point, digits and everything up to the next
 * number.
 */
function readsAsGo(text: string, units: readonly string[]): boolean {
  let rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === "0") return true;
  if (rest === "") return false;
  while (rest !== "") {
    const whole = leading(rest, isDigit);
    rest = rest.slice(whole.length);
    let fraction = "";
    if (rest.startsWith(".")) {
      fraction = leading(rest.slice(1), isDigit);
      rest = rest.slice(1 + fraction.length);
    }
    if (whole === "" && fraction === "") return false;
    const unit = leading(rest, (char) => char !== "." && !isDigit(char));
    if (!units.includes(unit)) return false;
    rest = rest.slice(unit.length);
  }
  return true;
}

const isDigit = (char: string): boolean => char >= "0" && char <= "9";

function leading(text: string, accepts: (char: string) => boolean): string {
  let end = 0;
  while (end < text.length && accepts(text.charAt(end))) end += 1;
  return text.slice(0, end);
}
