// The second line of defence: whatever text goes into the bundle (logs, events, messages) loses every secret value that is known,
// and everything that looks like a credential. Pure.
import { isObject } from "../../podtemplate/shape.ts";
import { REDACTED } from "./redact.ts";

/** Shorter values (`1`, `true`, `s3`) are no secrets, and replacing them would make the text useless. */
const SHORTEST_SECRET = 6;

export type Scrub = (text: string) => string;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g, REDACTED],
  [/\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}/gi, `$1 ${REDACTED}`],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/(\/\/[^\s/:@"']+):[^\s/@"']+@/g, `$1:${REDACTED}@`],
  [
    /((?:pass(?:word|wd)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key)["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s,;&}"']+)/gi,
    `$1${REDACTED}`,
  ],
];

export function createScrubber(secrets: Iterable<string>): Scrub {
  // The longest first: one secret may be part of another.
  const values = [...new Set(secrets)]
    .filter((value) => value.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let scrubbed = text;
    for (const value of values) scrubbed = scrubbed.replaceAll(value, REDACTED);
    for (const [pattern, replacement] of PATTERNS) scrubbed = scrubbed.replace(pattern, replacement);
    return scrubbed;
  };
}

/** Every text below a value: what a configuration holds. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** The secret values that an object itself holds: data of a Secret, variables, engine configuration. */
export function secretsOf(object: unknown): readonly string[] {
  if (!isObject(object)) return [];
  const own =
    object["kind"] === "Secret"
      ? [...Object.values(decoded(object["data"])), ...textsIn(object["data"]), ...textsIn(object["stringData"])]
      : [];
  return [...own.flatMap((value) => [value, ...lines(value)]), ...nested(object)];
}

function nested(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(nested);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === "customEngineConfig") return textsIn(inner);
    if (key === "env" && Array.isArray(inner))
      return inner.flatMap((variable) => (isObject(variable) ? textsIn(variable["value"]) : []));
    return nested(inner);
  });
}

function decoded(data: unknown): Readonly<Record<string, string>> {
  if (!isObject(data)) return {};
  const texts = Object.entries(data).map(([key, value]) => [
    key,
    typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "",
  ]);
  return Object.fromEntries(texts);
}

/** A log prints a file line by line. */
const lines = (text: string): readonly string[] =>
  text.includes("\n") ? text.split("\n").map((line) => line.trim()) : [];
