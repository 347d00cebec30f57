// The flags of the plugin as data, and the values that a command line gave them. Parsing is in command-line.ts.
import { goDurationMs } from "../api/go-duration.ts";
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

const SWITCH: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  "1": true,
  false: false,
  f: false,
  "0": false,
};

function parseValue(flag: Flag, text: string): Value {
  const wrong = (wanted: string) => new UsageError(`--${flag.name}=${text}: ${wanted}`);
  if (flag.values !== undefined && !flag.values.includes(text)) throw wrong(`must be one of ${flag.values.join(", ")}`);
  switch (flag.type) {
    case "text":
      return text;
    case "switch": {
      const value = SWITCH[text.toLowerCase()];
      if (value === undefined) throw wrong("must be true or false");
      return value;
    }
    case "integer":
      if (!/^-?\d{1,9}$/.test(text)) throw wrong("must be a whole number");
      return Number(text);
    case "duration": {
      const ms = goDurationMs(text) ?? secondsMs(text);
      if (ms === undefined || ms < 0) throw wrong("must be a duration such as 30s, 5m or 1h30m");
      return ms;
    }
    default:
      return flag.type satisfies never;
  }
}

/** kubectl takes a bare number for seconds. */
function secondsMs(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}
