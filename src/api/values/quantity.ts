// Kubernetes quantities (`1.5`, `250m`, `1Gi`, `1e3`) as exact whole numbers of a billionth, rounded and capped as the
// API server does it. Never throws: undefined for a string that is not a quantity.

/** A number of billionths: the finest step that Kubernetes keeps. */
export type Quantity = bigint;

/** One whole unit. */
export const ONE: Quantity = 1_000_000_000n;
const MILLI: Quantity = 1_000_000n;

const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_EXPONENTS: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

const SYNTAX = /^([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;

/** The API server caps binary quantities, and only those, at the largest 64-bit number. */
const MAX_BINARY = (2n ** 63n - 1n) * ONE;
/** A larger exponent could exhaust memory. */
const MAX_EXPONENT = 1_000;
const MAX_LENGTH = 1_000;

/** The exact value, or undefined when Kubernetes would reject it. A number means its decimal string. */
export function parseQuantity(value: unknown): Quantity | undefined {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text.length > MAX_LENGTH) return undefined;
  const match = SYNTAX.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fractionAfterWhole = "", bareFraction, suffix = ""] = match;
  const fraction = bareFraction ?? fractionAfterWhole;
  const digits = BigInt(whole + fraction);
  const magnitude = scaled(digits, fraction.length, suffix);
  return sign === "-" && magnitude !== undefined ? -magnitude : magnitude;
}

/** Negative, zero or positive as `a` is less than, equal to or more than `b`; undefined when one is not a quantity. */
export function compareQuantities(a: unknown, b: unknown): number | undefined {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  if (left === undefined || right === undefined) return undefined;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether both are quantities of the same value. */
export function equalQuantities(a: unknown, b: unknown): boolean {
  return compareQuantities(a, b) === 0;
}

/**
 * What the API server stores for an entry of a resource list: nothing finer than a thousandth, rounded away from zero.
 */
export function roundedToMilli(value: Quantity): Quantity {
  return divideUp(value, MILLI) * MILLI;
}

/**
 * As `compareQuantities`, of what the API server stores for both: one side may come from a spec, the other from an
 * object.
 */
export function compareStored(a: unknown, b: unknown): number | undefined {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  if (left === undefined || right === undefined) return undefined;
  const difference = roundedToMilli(left) - roundedToMilli(right);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The canonical string of a value: `1Gi` for 1024Mi and for 1073741824, `1500m` for 1.5. */
export function formatQuantity(value: Quantity): string {
  if (value === 0n) return "0";
  const decimal = formatDecimal(value);
  const binary = formatBinary(value);
  return binary !== undefined && binary.length < decimal.length ? binary : decimal;
}

function scaled(digits: bigint, fractionDigits: number, suffix: string): Quantity | undefined {
  const binary = BINARY_EXPONENTS[suffix];
  if (binary !== undefined) {
    const value = divideUp(digits * 2n ** BigInt(binary) * ONE, 10n ** BigInt(fractionDigits));
    if (value > MAX_BINARY) return MAX_BINARY;
    return value;
  }
  const exponent = (DECIMAL_EXPONENTS[suffix] ?? Number(suffix.slice(1))) + 9 - fractionDigits;
  if (exponent > MAX_EXPONENT) return undefined;
  if (exponent >= 0) return digits * 10n ** BigInt(exponent);
  // A positive request is never rounded to zero.
  return divideUp(digits, 10n ** BigInt(Math.min(-exponent, 2 * MAX_EXPONENT)));
}

function divideUp(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  if (quotient * by === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

function formatDecimal(value: Quantity): string {
  let text = "";
  for (const [suffix, exponent] of Object.entries(DECIMAL_EXPONENTS)) {
    const unit = 10n ** BigInt(exponent + 9);
    if (value % unit !== 0n) break;
    text = `${value / unit}${suffix}`;
  }
  return text;
}

function formatBinary(value: Quantity): string | undefined {
  let text: string | undefined;
  for (const [suffix, exponent] of Object.entries(BINARY_EXPONENTS)) {
    const unit = 2n ** BigInt(exponent) * ONE;
    if (value % unit !== 0n) break;
    text = `${value / unit}${suffix}`;
  }
  return text;
}
