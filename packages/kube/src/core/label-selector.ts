// Label selectors as the API server parses them, so that a cache can decide whether an object still matches. The parser
// rejects what it does not know and shows the offending part; it never guesses.

/** One condition of a selector. */
export type LabelRequirement =
  | { readonly type: "exists"; readonly key: string }
  | { readonly type: "absent"; readonly key: string }
  | { readonly type: "in"; readonly key: string; readonly values: ReadonlySet<string> }
  | { readonly type: "notIn"; readonly key: string; readonly values: ReadonlySet<string> };

/** All requirements must hold; none at all selects everything. */
export type LabelSelector = readonly LabelRequirement[];

/** The selector is invalid; the message shows where. */
export class LabelSelectorError extends Error {
  override readonly name = "LabelSelectorError";

  constructor(selector: string, problem: string, offending: string) {
    super(`label selector ${JSON.stringify(selector)}: ${problem} at ${JSON.stringify(offending)}`);
  }
}

const NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const PREFIX = "[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?";
const KEY = new RegExp(`^(?:${PREFIX}/)?${NAME}$`);
const VALUE = new RegExp(`^(?:${NAME})?$`);
const WORD = /[^\s,()=!<>]*/y;
const SPACE = /\s*/y;
const OPERATOR = /==|!=|=|(?:in|notin)(?=[\s(])/y;

/** Parses a selector such as `app=web,tier in (a, b),!legacy`. Throws {@link LabelSelectorError}. */
export function parseLabelSelector(selector: string): LabelSelector {
  const reader = new Reader(selector);
  const requirements: LabelRequirement[] = [];
  if (reader.atEnd()) return requirements;
  do requirements.push(readRequirement(reader));
  while (reader.accept(","));
  if (!reader.atEnd()) throw reader.problem("expected a comma or the end");
  return requirements;
}

/**
 * Whether an object with these labels matches. A missing label satisfies `!=`, `notin` and `!key`, as on the server.
 */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  return selector.every((requirement) => isMet(requirement, labels ?? {}));
}

function isMet(requirement: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.type) {
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
    case "in":
      return value !== undefined && requirement.values.has(value);
    case "notIn":
      return value === undefined || !requirement.values.has(value);
  }
}

function readRequirement(reader: Reader): LabelRequirement {
  if (reader.accept("!")) return { type: "absent", key: reader.word("a label key", KEY) };
  const key = reader.word("a label key", KEY);
  const operator = reader.match(OPERATOR);
  switch (operator) {
    case "=":
    case "==":
      return { type: "in", key, values: new Set([reader.word("a label value", VALUE)]) };
    case "!=":
      return { type: "notIn", key, values: new Set([reader.word("a label value", VALUE)]) };
    case "in":
      return { type: "in", key, values: readValues(reader) };
    case "notin":
      return { type: "notIn", key, values: readValues(reader) };
    default:
      return { type: "exists", key };
  }
}

function readValues(reader: Reader): ReadonlySet<string> {
  if (!reader.accept("(")) throw reader.problem("expected an opening parenthesis");
  const values = new Set<string>();
  do values.add(reader.word("a label value", VALUE));
  while (reader.accept(","));
  if (!reader.accept(")")) throw reader.problem("expected a comma or a closing parenthesis");
  return values;
}

class Reader {
  readonly #selector: string;
  #at = 0;

  constructor(selector: string) {
    this.#selector = selector;
  }

  atEnd(): boolean {
    this.#take(SPACE);
    return this.#at === this.#selector.length;
  }

  accept(mark: string): boolean {
    this.#take(SPACE);
    if (!this.#selector.startsWith(mark, this.#at)) return false;
    this.#at += mark.length;
    return true;
  }

  match(pattern: RegExp): string {
    this.#take(SPACE);
    return this.#take(pattern);
  }

  word(what: string, shape: RegExp): string {
    this.#take(SPACE);
    const start = this.#at;
    const word = this.#take(WORD);
    if (shape.test(word)) return word;
    this.#at = start;
    throw this.problem(`expected ${what}`);
  }

  problem(problem: string): LabelSelectorError {
    return new LabelSelectorError(this.#selector, problem, this.#selector.slice(this.#at));
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#selector)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}
