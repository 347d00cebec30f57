// Whether a live object already holds everything of a rendered one. What others added is left alone, and what the API
// server does not store (false, empty) equals absence; otherwise the same write would be repeated for ever.

export function covers(live: unknown, wanted: unknown): boolean {
  if (isEmpty(wanted)) return isEmpty(live) || typeof wanted === "object" || wanted === undefined;
  if (Array.isArray(wanted))
    return Array.isArray(live) && wanted.every((entry) => live.some((candidate) => covers(candidate, entry)));
  if (isRecord(wanted))
    return isRecord(live) && Object.entries(wanted).every(([key, value]) => covers(live[key], value));
  return live === wanted;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "" || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
