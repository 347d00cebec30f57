// Durations and ages in kubectl's format. Pure.

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** Two units while the first is small (`5m12s`), else one (`3d`). */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const index = UNITS.findIndex(([, size]) => seconds >= size);
  const unit = UNITS[index];
  if (unit === undefined) return "0s";
  const count = Math.floor(seconds / unit[1]);
  const below = UNITS[index + 1];
  const rest = below === undefined ? 0 : Math.floor((seconds % unit[1]) / below[1]);
  return below === undefined || rest === 0 || count >= 10
    ? `${count}${unit[0]}`
    : `${count}${unit[0]}${rest}${below[0]}`;
}

/** The age of an RFC 3339 time; undefined for anything else. */
export function ageMs(time: string | undefined, nowMs: number): number | undefined {
  const then = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(then) ? undefined : Math.max(0, nowMs - then);
}

export function ageText(time: string | undefined, nowMs: number): string {
  const ms = ageMs(time, nowMs);
  return ms === undefined ? "" : spanText(ms);
}
