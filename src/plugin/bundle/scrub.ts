// The second line of defence: from every string of the bundle (logs, events, messages) known secret values are
// removed, and everything that looks like a credential or a query. The rules are a table; each has its own file and
// its own tests. Pure.
import { CREDENTIAL_SHAPES, type TextRule } from "./credential-shapes.ts";
import { formsOf } from "./known-secrets.ts";
import { scrubPairs } from "./name-value-pairs.ts";
import { scrubNamedValues } from "./named-values.ts";
import { plainText } from "./normalise.ts";
import { REDACTED } from "./redacted.ts";
import { scrubStatements } from "./sql-text.ts";

/** Shorter values (`1`, `true`, `s3`) are not secrets, and removing them would make the output useless. */
const SHORTEST_SECRET = 6;

export interface Scrubber {
  /** Removes known values only: for names, images and other identifiers. */
  readonly known: (text: string) => string;
  /** Removes everything that may be secret: for prose, logs and free values. */
  readonly text: (text: string) => string;
}

/** In this order: names inside a statement are removed with it, and a shape is found at any position. */
export const TEXT_RULES: readonly TextRule[] = [
  ...CREDENTIAL_SHAPES,
  { name: "statement", scrub: scrubStatements },
  { name: "name and value as values", scrub: scrubPairs },
  { name: "named value", scrub: scrubNamedValues },
];

export function createScrubber(secrets: Iterable<string>): Scrubber {
  const long = [...new Set(secrets)].filter((value) => value.length >= SHORTEST_SECRET);
  // Longest first: one secret may be part of another.
  const values = [...new Set(long.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const known = (text: string): string => values.reduce((rest, value) => rest.replaceAll(value, REDACTED), text);
  return { known, text: (text) => TEXT_RULES.reduce((rest, rule) => rule.scrub(rest), known(plainText(text))) };
}
