// The second line of defence: whatever text goes into the bundle (logs, events, messages) loses every secret value that is known, and
// everything that looks like a credential or a query. The rules are a table; each has its own file and its own tests. Pure.
import { CREDENTIAL_SHAPES, type TextRule } from "./credential-shapes.ts";
import { formsOf } from "./known-secrets.ts";
import { scrubPairs } from "./name-value-pairs.ts";
import { scrubNamedValues } from "./named-values.ts";
import { plainText } from "./plain-text.ts";
import { REDACTED } from "./redacted.ts";
import { scrubStatements } from "./sql-text.ts";

/** Shorter values (`1`, `true`, `s3`) are no secrets, and replacing them would make the text useless. */
const SHORTEST_SECRET = 6;

export interface Scrubber {
  /** Takes out the known values alone: for names, images and other identifiers. */
  readonly known: (text: string) => string;
  /** Takes out everything that may be secret: for prose, logs and values that people wrote. */
  readonly text: (text: string) => string;
}

/** In this order: names inside a statement go with it, and a shape is found wherever it stands. */
export const TEXT_RULES: readonly TextRule[] = [
  ...CREDENTIAL_SHAPES,
  { name: "statement", scrub: scrubStatements },
  { name: "name and value as values", scrub: scrubPairs },
  { name: "named value", scrub: scrubNamedValues },
];

export function createScrubber(secrets: Iterable<string>): Scrubber {
  const long = [...new Set(secrets)].filter((value) => value.length >= SHORTEST_SECRET);
  // The longest first: one secret may be part of another.
  const values = [...new Set(long.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const known = (text: string): string => values.reduce((rest, value) => rest.replaceAll(value, REDACTED), text);
  return { known, text: (text) => TEXT_RULES.reduce((rest, rule) => rule.scrub(rest), known(plainText(text))) };
}
