// The flags of the plugin as data, and the values that a command line gave them. Parsing is in command-line.ts.
import { type FlagValueType, parseFlagValue } from "../../command-line/flag-value.ts";
import { UsageError } from "./exit-codes.ts";

export type FlagType = "text" | "switch" | "integer" | "duration";

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Alternative spellings. */
  readonly alias?: string;
  readonly type: FlagType;
  /** As a user would type it. Without a default the flag has no value unless it is given. */
  readonly default?: string;
  /** The allowed values. */
  readonly values?: readonly string[];
  /** Name of the value in the help. */
  readonly placeholder?: string;
  readonly help: string;
}

const DURATION = "must be a duration such as 30s, 5m or 1h30m";

type Value = string | number | boolean;

/** The values of one command line. Reading a flag that the command does not have is a bug, and throws. */
export class FlagValues {
  readonly #known: ReadonlyMap<string, Flag>;
  readonly #values = new Map<string, Value>();

  constructor(flags: readonly Flag[]) {
    this.#known = new Map(flags.map((flag) => [flag.name, flag]));
    for (const flag of flags) if (flag.default !== undefined) this.set(flag, flag.default);
  }

  set(flag: Flag, text: string): void {
    this.#values.set(flag.name, parseValue(flag, text));
  }

  /** Empty when the flag was not given and has no default. */
  text(name: string): string {
    const value = this.#read(name, "text");
    return value === undefined ? "" : String(value);
  }

  on(name: string): boolean {
    return this.#read(name, "switch") === true;
  }

  integer(name: string): number | undefined {
    const value = this.#read(name, "integer");
    return typeof value === "number" ? value : undefined;
  }

  durationMs(name: string): number | undefined {
    const value = this.#read(name, "duration");
    return typeof value === "number" ? value : undefined;
  }

  #read(name: string, type: FlagType): Value | undefined {
    if (this.#known.get(name)?.type !== type) throw new TypeError(`this command has no ${type} flag --${name}`);
    return this.#values.get(name);
  }
}

const SYNTAX: Readonly<Record<FlagType, FlagValueType>> = {
  text: "string",
  switch: "boolean",
  integer: "integer",
  duration: "duration",
};

function parseValue(flag: Flag, text: string): Value {
  const wrong = (wanted: string) => new UsageError(`--${flag.name}=${text}: ${wanted}`);
  if (flag.values !== undefined && !flag.values.includes(text)) throw wrong(`must be one of ${flag.values.join(", ")}`);
  const seconds = flag.type === "duration" ? secondsMs(text) : undefined;
  if (seconds !== undefined) return seconds;
  const parsed = parseFlagValue(SYNTAX[flag.type], flag.type === "switch" ? text.toLowerCase() : text);
  if ("problem" in parsed) throw wrong(flag.type === "duration" ? DURATION : parsed.problem);
  if (flag.type === "duration" && Number(parsed.value) < 0) throw wrong(DURATION);
  if (flag.type === "integer" && !/^-?\d{1,9}$/.test(text)) throw wrong("must be a whole number");
  return parsed.value;
}

/** kubectl takes a bare number for seconds. */
function secondsMs(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}
