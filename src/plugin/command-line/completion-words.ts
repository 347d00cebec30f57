// Completions for a command line that is being typed. Pure: the caller provides the names of objects.
import type { Argument, Command } from "../commands/command.ts";
import { GLOBAL_FLAGS } from "../commands/global-flags.ts";

export type Candidates =
  | { readonly type: "words"; readonly words: readonly string[] }
  | { readonly type: "names"; readonly kind: NonNullable<Argument["kind"]> };

/** `done` are the words before the one that is being typed. */
export function completions(commands: readonly Command[], done: readonly string[], last: string): Candidates {
  const plain = withoutFlags(commands, done);
  const command = longestMatch(commands, plain);
  if (last.startsWith("-"))
    return { type: "words", words: [...(command?.flags ?? []), ...GLOBAL_FLAGS].map(({ name }) => `--${name}`) };
  if (command === undefined) return { type: "words", words: nextWords(commands, plain) };
  const kind = command.arguments?.[plain.length - matchedLength(command, plain)]?.kind;
  return kind === undefined ? { type: "words", words: [] } : { type: "names", kind };
}

/** The words without flags and their values. */
function withoutFlags(commands: readonly Command[], words: readonly string[]): readonly string[] {
  const flags = [...commands.flatMap((command) => command.flags ?? []), ...GLOBAL_FLAGS];
  return words.filter((word, index) => {
    if (word.startsWith("-")) return false;
    const before = words[index - 1] ?? "";
    const flag = flags.find(({ name, short }) => before === `--${name}` || before === `-${short}`);
    return flag === undefined || flag.type === "switch";
  });
}

function nextWords(commands: readonly Command[], path: readonly string[]): readonly string[] {
  const below = commands
    .filter(({ hidden }) => hidden === undefined)
    .flatMap(({ words, aliases = [] }) => [words, ...aliases])
    .filter((words) => path.every((word, i) => words[i] === word));
  return [...new Set(below.flatMap((words) => words[path.length] ?? []))];
}

function longestMatch(commands: readonly Command[], path: readonly string[]): Command | undefined {
  return commands.find((command) => matchedLength(command, path) > 0);
}

function matchedLength({ words, aliases = [] }: Command, path: readonly string[]): number {
  return [words, ...aliases].find((own) => own.every((word, i) => path[i] === word))?.length ?? 0;
}
