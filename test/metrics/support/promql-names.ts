// Finds the series that a PromQL expression selects, and the labels it groups by. It does not check the syntax:
// promtool does. Grafana's variables match any value.
import type { Series } from "./scrape.ts";

export interface Matcher {
  readonly label: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

export interface Selector {
  /** Absent when the name itself is matched, as `__name__`. */
  readonly name?: string;
  readonly matchers: readonly Matcher[];
}

export interface Names {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `on` and the like. */
  readonly groupings: readonly string[];
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{|\}|\(|\)|,|=~|!~|!=|==|=|[a-zA-Z_:][\w:]*|\S/g;
const GROUPING = new Set(["by", "without", "on", "ignoring", "group_left", "group_right"]);
const WORDS = new Set(["and", "or", "unless", "bool", "offset", "inf", "nan"]);
const IDENTIFIER = /^[a-zA-Z_:]/;

export function namesIn(expression: string): Names {
  const tokens: readonly string[] = expression.match(TOKEN) ?? [];
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? "";
    if (token === "{") {
      const end = tokens.indexOf("}", i);
      selectors.push({ matchers: matchersIn(tokens.slice(i + 1, end)) });
      i = end;
    } else if (GROUPING.has(token) && tokens[i + 1] === "(") {
      const end = tokens.indexOf(")", i);
      groupings.push(...tokens.slice(i + 2, end).filter((part) => part !== ","));
      i = end;
    } else if (
      IDENTIFIER.test(token) &&
      !WORDS.has(token.toLowerCase()) &&
      !isFunction(tokens, i) &&
      !isUnit(tokens, i)
    ) {
      const hasMatchers = tokens[i + 1] === "{";
      const end = hasMatchers ? tokens.indexOf("}", i) : i;
      selectors.push({ name: token, matchers: matchersIn(tokens.slice(i + 2, end)) });
      i = end;
    }
  }
  return { selectors, groupings };
}

/** `rate(…)`, `sum(…)`, `sum by (…) (…)`. */
const isFunction = (tokens: readonly string[], at: number): boolean =>
  tokens[at + 1] === "(" || GROUPING.has(tokens[at + 1] ?? "");

/** The letter of `5m`. */
const isUnit = (tokens: readonly string[], at: number): boolean => /^\d$/.test(tokens[at - 1] ?? "");

function matchersIn(tokens: readonly string[]): readonly Matcher[] {
  const parts = tokens.filter((token) => token !== ",");
  return Array.from({ length: parts.length / 3 }, (_, i) => {
    const [label = "", operator = "", value = ""] = parts.slice(i * 3, i * 3 + 3);
    if (operator !== "=" && operator !== "!=" && operator !== "=~" && operator !== "!~")
      throw new Error(`not a matcher: ${label}${operator}${value}`);
    return { label, operator, value: JSON.parse(value) as string };
  });
}

/** Whether a series matches the selector; labels that the scraper adds are assumed to match. */
export function answers(series: Series, { name, matchers }: Selector, scraperLabels: ReadonlySet<string>): boolean {
  if (name !== undefined && series.name !== name) return false;
  return matchers.every(({ label, operator, value }) => {
    const actual = label === "__name__" ? series.name : series.labels[label];
    if (actual === undefined) return scraperLabels.has(label);
    if (value.includes("$")) return true;
    const equal = operator.includes("~") ? new RegExp(`^(?:${value})$`).test(actual) : actual === value;
    return operator.startsWith("!") ? !equal : equal;
  });
}
