// The commands that the program prints for users: every `kubectl …` in the strings of the plugin and of the code that
// it shares with the operator, with usable values for the placeholders.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SRC = join(import.meta.dirname, "../../../src");
const FOLDERS = ["api", "plugin", "pods"];

/** What stands for an expression in a template, by its text. Everything else is a name. */
const FILLED: readonly (readonly [RegExp, string])[] = [
  [/^verb$/, "describe pod"],
  [/^(?:at|commandTarget\(pod\))$/, "x -n ns"],
  [/^LABEL\.(?:engine|instance)$/, "firebolt.io/instance"],
  [/^ANNOTATION\.\w+$/, "firebolt.io/x"],
  [/^replicas$/, "1"],
];

export interface PrintedCommand {
  readonly file: string;
  readonly line: string;
  /** Everything after `kubectl`. */
  readonly args: readonly string[];
}

export function printedCommands(): readonly PrintedCommand[] {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(join(SRC, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .flatMap((file) => commandsIn(readFileSync(join(SRC, folder, file), "utf8"), `${folder}/${file}`)),
  );
  return [...new Map(found.map((command) => [command.line, command])).values()];
}

/** Strings of one line, templates included; comments are for readers of the source. */
function commandsIn(source: string, file: string): readonly PrintedCommand[] {
  const code = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, "");
  const strings = [...code.matchAll(/(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1/g)].map(([, , text = ""]) => text);
  return strings.flatMap((text) =>
    [...filled(text).matchAll(/kubectl ([a-z-](?:\$\([^)]*\)|[^;)|])*)/g)].flatMap(([, rest = ""]) => {
      const line = rest.split(/(?:, | and | or )(?=[a-z]+ )/, 1)[0]?.replace(/[.,:\s]+$/, "") ?? "";
      return isCommand(line) ? [{ file, line: `kubectl ${line}`, args: wordsOf(line) }] : [];
    }),
  );
}

/** Prose about kubectl, and usage lines that are assembled from words. */
const VERBS = /^(?:firebolt|get|describe|logs|delete|annotate|scale) \S/;
const isCommand = (line: string): boolean => VERBS.test(line) && !/^firebolt (?:x|COMMAND)/.test(line);

function filled(text: string): string {
  const named = text.replaceAll(/\bNAMESPACE\b/g, "ns").replaceAll(/\bNAME\b/g, "x");
  return named.replace(/\$\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/g, (_, inside: string) => {
    return FILLED.find(([pattern]) => pattern.test(inside))?.[1] ?? "x";
  });
}

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|((?:[^\s"]|"[^"]*")+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
