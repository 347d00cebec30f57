// Durations as Go writes them (`1h30m`, `.5s`, `-5m`, `0`): the patterns that the CRDs use, and the parsers and the
// formatter that agree with them. Reads no clock. Values are whole nanoseconds, as bigint, within Go's 64 bits.

/** One `<decimal><unit>` group without its unit: `1`, `1.`, `1.5`, `.5`. */
const DECIMAL = "([0-9]+(\\.[0-9]*)?|\\.[0-9]+)";

/** Every string that Go's time.ParseDuration accepts, apart from values out of range. µ may be U+00B5 or U+03BC. */
export const GO_DURATION_PATTERN = `^[-+]?(0|(${DECIMAL}(ns|us|µs|μs|ms|s|m|h))+)$`;

/** The same with the unit `d` (24 h); the empty string means "not set". */
export const DAY_DURATION_PATTERN = `^([-+]?(0|(${DECIMAL}(ns|us|µs|μs|ms|s|m|h|d))+))?$`;

const MICROSECOND = 1_000n;
const MILLISECOND = 1_000_000n;
const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: MICROSECOND,
  µs: MICROSECOND,
  μs: MICROSECOND,
  ms: MILLISECOND,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: 24n * HOUR,
};

/** The largest magnitudes of a 64-bit duration; the negative side reaches one further. */
const MAX = 2n ** 63n - 1n;
const MIN_MAGNITUDE = 2n ** 63n;

const GO_DURATION = new RegExp(GO_DURATION_PATTERN);
const DAY_DURATION = new RegExp(DAY_DURATION_PATTERN);
const GROUP = /([0-9]*)(?:\.([0-9]*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h|d)/g;

/** Whole nanoseconds, or undefined when Go would reject the string. */
export function parseGoDuration(text: string): bigint | undefined {
  return GO_DURATION.test(text) ? sumOf(text) : undefined;
}

/** Like {@link parseGoDuration}, with days. The empty string means "not set" and has no value. */
export function parseDayDuration(text: string): bigint | undefined {
  return text !== "" && DAY_DURATION.test(text) ? sumOf(text) : undefined;
}

/** Milliseconds, rounded down; undefined when the string is not a duration. */
export function goDurationMs(text: string): number | undefined {
  const nanoseconds = parseGoDuration(text);
  return nanoseconds === undefined ? undefined : Number(floorDivide(nanoseconds, MILLISECOND));
}

/** Like {@link goDurationMs}, with days. */
export function dayDurationMs(text: string): number | undefined {
  const nanoseconds = parseDayDuration(text);
  return nanoseconds === undefined ? undefined : Number(floorDivide(nanoseconds, MILLISECOND));
}

/** What Go's Duration.String returns: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatGoDuration(nanoseconds: bigint): string {
  const sign = nanoseconds < 0n ? "-" : "";
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (magnitude === 0n) return "0s";
  if (magnitude < MICROSECOND) return `${sign}${magnitude}ns`;
  if (magnitude < MILLISECOND) return `${sign}${decimal(magnitude, MICROSECOND)}µs`;
  if (magnitude < SECOND) return `${sign}${decimal(magnitude, MILLISECOND)}ms`;
  const hours = magnitude / HOUR;
  const minutes = (magnitude % HOUR) / MINUTE;
  const seconds = `${decimal(magnitude % MINUTE, SECOND)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

/** Sums the groups of a string that matches the pattern. */
function sumOf(text: string): bigint | undefined {
  let magnitude = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(GROUP)) {
    const perUnit = NANOSECONDS[unit] ?? 0n;
    // Go truncates each group to nanoseconds.
    const cut = (BigInt(fraction === "" ? "0" : fraction) * perUnit) / 10n ** BigInt(fraction.length);
    magnitude += BigInt(whole === "" ? "0" : whole) * perUnit + cut;
  }
  if (text.startsWith("-")) return magnitude <= MIN_MAGNITUDE ? -magnitude : undefined;
  return magnitude <= MAX ? magnitude : undefined;
}

function decimal(value: bigint, unit: bigint): string {
  const digits = String(unit).length - 1;
  const fraction = String(value % unit)
    .padStart(digits, "0")
    .replace(/0+$/, "");
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}
