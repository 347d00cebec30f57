// Command-line flags in Go's syntax (`--name=value`, `--name value`, `-name=value`, `--bool`), described as data.
// Parsing reads no environment and prints nothing: a bad command line throws a UsageError.
import { type FlagValueType, parseFlagValue } from "../../command-line/flag-value.ts";

export interface FlagSpec {
  readonly type: FlagValueType;
  /** As a user would type it. */
  readonly default: string;
  readonly help: string;
  /** The problem with a value of the right type, or undefined. */
  readonly check?: (value: string) => string | undefined;
}

export type FlagTable = Readonly<Record<string, FlagSpec>>;

/** Durations come out in milliseconds. */
type ValueOf<S extends FlagSpec> = S["type"] extends "string" ? string : S["type"] extends "boolean" ? boolean : number;
export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: ValueOf<T[K]> };

/** The command line cannot be parsed; the caller prints the usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command line can be parsed, but a value cannot be used. The message names the flag. */
export class SettingError extends Error {
  override readonly name = "SettingError";
}

/** Later duplicates win, so that a caller can append arguments to override earlier ones. */
export function parseFlags<T extends FlagTable>(table: T, args: readonly string[]): FlagValues<T> {
  const values: Record<string, string | boolean | number> = {};
  for (const [name, spec] of Object.entries(table)) values[name] = parseValue(name, spec, spec.default);
  for (let i = 0; i < args.length; i++) {
    const { name, inline } = splitFlag(args[i] ?? "");
    const spec = table[name];
    if (spec === undefined) throw new UsageError(`unknown flag --${name}${suggestion(name, Object.keys(table))}`);
    if (inline !== undefined) values[name] = parseValue(name, spec, inline);
    else if (spec.type === "boolean") values[name] = true;
    else {
      const next = args[++i];
      if (next === undefined) throw new UsageError(`flag --${name} needs a value`);
      values[name] = parseValue(name, spec, next);
    }
  }
  return values as FlagValues<T>;
}

function splitFlag(arg: string): { name: string; inline: string | undefined } {
  const match = /^--?([A-Za-z0-9][^=]*)(?:=(.*))?$/s.exec(arg);
  if (match === null) throw new UsageError(`unexpected argument ${JSON.stringify(arg)}: flags look like --name=value`);
  return { name: match[1] ?? "", inline: match[2] };
}

function parseValue(name: string, spec: FlagSpec, text: string): string | boolean | number {
  const bad = (wanted: string): UsageError => new UsageError(`--${name}=${text}: ${wanted}`);
  const problem = spec.check?.(text);
  if (problem !== undefined) throw bad(problem);
  const parsed = parseFlagValue(spec.type, text);
  if ("problem" in parsed) throw bad(parsed.problem);
  return parsed.value;
}

function suggestion(name: string, known: readonly string[]): string {
  const near = known.find((candidate) => candidate.includes(name) || name.includes(candidate));
  return near === undefined ? " (--help lists all flags)" : ` (did you mean --${near}?)`;
}

/** The flags with their defaults, aligned for a terminal. */
export function describeFlags(table: FlagTable): string {
  const rows = Object.entries(table).map(([name, spec]) => ({
    left: `  --${name}${spec.type === "boolean" ? "" : ` <${spec.type}>`}`,
    right: `${spec.help}${spec.default === "" ? "" : ` (default ${spec.default})`}`,
  }));
  const width = Math.max(...rows.map((row) => row.left.length)) + 2;
  return rows.map((row) => row.left.padEnd(width) + row.right).join("\n");
}
