// The command line in kubectl's syntax (`-n ns`, `-nns`, `-o=json`, `--flag value`, `--flag=value`, flags before or
// after words). Finds the command and checks its arguments. A mistake is a UsageError that says how to correct it.
import type { Argument, Command, CommandGroup } from "../commands/command.ts";
import { GLOBAL_FLAGS } from "../commands/global-flags.ts";
import { UsageError } from "./exit-codes.ts";
import { type Flag, FlagValues } from "./flags.ts";
import { suggestion } from "./suggest.ts";

export type Parsed =
  | { readonly type: "run"; readonly command: Command; readonly args: readonly string[]; readonly flags: FlagValues }
  /** `words` may name a group, a command or nothing. */
  | { readonly type: "help"; readonly words: readonly string[] }
  | { readonly type: "version" };

interface Words {
  readonly path: readonly string[];
  readonly command: Command | undefined;
  readonly rest: readonly string[];
}

export function parseCommandLine(
  commands: readonly Command[],
  groups: readonly CommandGroup[],
  argv: readonly string[],
): Parsed {
  const { path, command, rest } = findCommand(commands, groups, argv);
  if (command === undefined) {
    const { flags } = readFlags(rest, GLOBAL_FLAGS);
    return flags.on("version") ? { type: "version" } : { type: "help", words: path };
  }
  if (rest.includes("--help") || rest.includes("-h")) return { type: "help", words: command.words };
  const { flags, args } = readFlags(rest, [...(command.flags ?? []), ...GLOBAL_FLAGS], { command });
  if (flags.on("help")) return { type: "help", words: command.words };
  checkArguments(command, args);
  return { type: "run", command, args, flags };
}

/** The words of a command come first; only global flags may stand between them. */
function findCommand(commands: readonly Command[], groups: readonly CommandGroup[], argv: readonly string[]): Words {
  const spellings = commands.flatMap((command) =>
    [command.words, ...(command.aliases ?? [])].map((words) => ({ words, command })),
  );
  const early: string[] = [];
  const path: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? "";
    if (word.startsWith("-")) {
      const flag = findFlag(word, GLOBAL_FLAGS);
      // It may be a flag of the command: parsed again once the command is known.
      if (flag === undefined) throw unknownFlag(word, GLOBAL_FLAGS, path);
      early.push(word);
      if (takesNext(word, flag)) early.push(argv[++i] ?? "");
      continue;
    }
    if (word === "help" && path.length === 0) {
      const { path: about } = findCommand(commands, groups, argv.slice(i + 1));
      return { path: about, command: undefined, rest: [] };
    }
    path.push(word);
    const exact = spellings.find(({ words }) => same(words, path));
    if (exact !== undefined) return { path, command: exact.command, rest: [...early, ...argv.slice(i + 1)] };
    if (!spellings.some(({ words }) => same(words.slice(0, path.length), path))) throw unknownCommand(spellings, path);
  }
  return { path, command: undefined, rest: early };
}

interface ReadOptions {
  readonly command?: Command;
  /** A line that is still being typed may hold flags of a command that is not known yet. */
  readonly unknown?: "reject" | "skip";
}

export function readFlags(
  tokens: readonly string[],
  known: readonly Flag[],
  { command, unknown = "reject" }: ReadOptions = {},
): { flags: FlagValues; args: string[] } {
  const flags = new FlagValues(known);
  const args: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? "";
    if (token === "--") {
      args.push(...tokens.slice(i + 1));
      break;
    }
    if (!token.startsWith("-") || token === "-") {
      args.push(token);
      continue;
    }
    const flag = findFlag(token, known);
    if (flag === undefined && unknown === "skip") continue;
    if (flag === undefined) throw unknownFlag(token, known, command?.words ?? []);
    const inline = inlineValue(token, flag);
    if (inline !== undefined) flags.set(flag, inline);
    else if (flag.type === "switch") flags.set(flag, "true");
    else {
      const next = tokens[++i];
      if (next === undefined) throw new UsageError(`--${flag.name} needs a value: ${flag.help}`);
      flags.set(flag, next);
    }
  }
  return { flags, args };
}

function findFlag(token: string, known: readonly Flag[]): Flag | undefined {
  if (token.startsWith("--")) {
    const name = token.slice(2).split("=", 1)[0] ?? "";
    return known.find((flag) => flag.name === name || flag.alias === name);
  }
  const letter = token.slice(1, 2);
  const flag = known.find(({ short }) => short === letter);
  // Combined switches (`-Aw`) are not supported.
  return flag?.type === "switch" && token.length > 2 && token[2] !== "=" ? undefined : flag;
}

function inlineValue(token: string, { type }: Flag): string | undefined {
  if (token.startsWith("--")) return token.includes("=") ? token.slice(token.indexOf("=") + 1) : undefined;
  const glued = token.slice(2);
  if (glued === "") return undefined;
  return glued.startsWith("=") ? glued.slice(1) : type === "switch" ? undefined : glued;
}

const takesNext = (token: string, flag: Flag): boolean =>
  flag.type !== "switch" && inlineValue(token, flag) === undefined;

function checkArguments({ words, arguments: wanted = [] }: Command, args: readonly string[]): void {
  const call = `kubectl firebolt ${words.join(" ")}`;
  const missing = wanted.filter(({ optional }) => optional === undefined)[args.length];
  if (missing !== undefined) {
    const names = wanted.map(({ name, optional }) => (optional ? `[${name.toUpperCase()}]` : name.toUpperCase()));
    throw new UsageError(`${call} needs ${withArticle(missing.name)}: ${[call, ...names].join(" ")}`);
  }
  for (const [index, arg] of args.entries()) checkArgument(call, wanted[index], arg);
  const extra = wanted.at(-1)?.many ? undefined : args[wanted.length];
  if (extra !== undefined)
    throw new UsageError(`unexpected argument ${JSON.stringify(extra)}: ${call} takes ${countText(wanted.length)}`);
}

/**
 * An unset variable of a script is an empty argument. As a name it would address all objects of the kind: `engine
 * delete ""` must not become the deletion of every engine.
 */
function checkArgument(call: string, wanted: Argument | undefined, value: string): void {
  const isPath = wanted?.kind !== undefined && (value === "." || value === "..");
  if (wanted === undefined || (value.trim() !== "" && !isPath)) return;
  throw new UsageError(`${call}: ${JSON.stringify(value)} is not a valid ${wanted.name}: is a shell variable unset?`);
}

const withArticle = (name: string): string => `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
const countText = (count: number): string =>
  count === 0 ? "no arguments" : count === 1 ? "one argument" : `${count} arguments`;

function unknownFlag(token: string, known: readonly Flag[], words: readonly string[]): UsageError {
  const name = token.replace(/^--?/, "").split("=", 1)[0] ?? "";
  const near = token.startsWith("--")
    ? suggestion(
        name,
        known.map((flag) => flag.name),
        "--",
      )
    : "";
  const shown = token.startsWith("--") ? `--${name}` : token;
  return new UsageError(`unknown flag ${shown}${near}: see ${["kubectl firebolt", ...words, "--help"].join(" ")}`);
}

function unknownCommand(
  spellings: readonly { readonly words: readonly string[]; readonly command: Command }[],
  path: readonly string[],
): UsageError {
  const [before, word] = [path.slice(0, -1), path.at(-1) ?? ""];
  const siblings = spellings
    .filter(({ words, command }) => command.hidden === undefined && same(words.slice(0, before.length), before))
    .map(({ words }) => words[before.length] ?? "");
  const call = ["kubectl firebolt", ...before].join(" ");
  // The last word of a whole command is a better guess than a word that is only spelled alike.
  const full = spellings.find(({ words, command }) => command.hidden === undefined && words.at(-1) === word);
  const near =
    before.length === 0 && full !== undefined
      ? ` (did you mean ${JSON.stringify(full.words.join(" "))}?)`
      : suggestion(word, [...new Set(siblings)]);
  return new UsageError(`unknown command ${JSON.stringify([...path].join(" "))}${near}: see ${call} --help`);
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((word, index) => word === b[index]);
