// The help texts, made from the command table: an overview, one page per group and one per command. Prints nothing itself.
import type { Command, CommandGroup } from "./command.ts";
import { EXIT_MEANINGS } from "./exit-codes.ts";
import type { Flag } from "./flags.ts";
import { GLOBAL_FLAGS } from "./global-flags.ts";
import type { Style } from "./terminal/style.ts";

export interface HelpInput {
  readonly commands: readonly Command[];
  readonly groups: readonly CommandGroup[];
  readonly words: readonly string[];
  readonly style: Style;
}

export function helpText(input: HelpInput): string {
  const { commands, words } = input;
  const command = commands.find(({ words: own }) => own.join(" ") === words.join(" "));
  const sections = command === undefined ? groupHelp(input) : commandHelp(command, input.style);
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function groupHelp({ commands, groups, words, style }: HelpInput): readonly string[] {
  const depth = words.length;
  const below = commands.filter(
    ({ words: own, hidden }) => hidden === undefined && own.length > depth && words.every((word, i) => own[i] === word),
  );
  const rows = new Map<string, string>();
  for (const { words: own, summary } of below) {
    const next = own[depth] ?? "";
    const group = own.length > depth + 1 ? groups.find(({ word }) => word === next) : undefined;
    if (!rows.has(next)) rows.set(next, group?.summary ?? summary);
  }
  const about =
    depth === 0
      ? "Firebolt on Kubernetes: see, plan, change and diagnose instances and engines."
      : (groups.find(({ word }) => word === words[0])?.summary ?? "");
  return [
    about,
    section("Usage", `  ${["kubectl firebolt", ...words].join(" ")} COMMAND [flags]`, style),
    section("Commands", columns([...rows]), style),
    depth === 0 ? section("Shortcuts", shortcuts(commands), style) : "",
    depth === 0 ? section("Flags of every command", flagRows(GLOBAL_FLAGS), style) : "",
    depth === 0 ? section("Exit codes", columns(EXIT_MEANINGS.map(([code, text]) => [String(code), text])), style) : "",
    `Run ${style.bold([...["kubectl firebolt", ...words], "COMMAND --help"].join(" "))} for the flags and examples of one command.`,
  ];
}

function commandHelp(command: Command, style: Style): readonly string[] {
  const { words, aliases = [], summary, about = "", flags = [], examples = [] } = command;
  const args = (command.arguments ?? []).map(({ name, optional }) =>
    optional === undefined ? name.toUpperCase() : `[${name.toUpperCase()}]`,
  );
  return [
    `${summary}.`,
    about,
    section("Usage", `  ${["kubectl firebolt", ...words, ...args, "[flags]"].join(" ")}`, style),
    aliases.length === 0
      ? ""
      : section(
          "Also",
          aliases.map((alias) => `  ${["kubectl firebolt", ...alias, ...args].join(" ")}`).join("\n"),
          style,
        ),
    examples.length === 0
      ? ""
      : section("Examples", examples.map(([why, line]) => `  ${style.dim(`# ${why}`)}\n  ${line}`).join("\n"), style),
    flags.length === 0 ? "" : section("Flags", flagRows(flags), style),
    section("Flags of every command", flagRows(GLOBAL_FLAGS), style),
  ];
}

/** Commands that can be called by one word, too. */
function shortcuts(commands: readonly Command[]): string {
  const rows = commands.flatMap(({ words, aliases = [] }) =>
    aliases.map((alias) => [alias.join(" "), `the same as ${words.join(" ")}`] as const),
  );
  return columns(rows);
}

const section = (title: string, body: string, style: Style): string => `${style.bold(`${title}:`)}\n${body}`;

function flagRows(flags: readonly Flag[]): string {
  return columns(
    flags.map((flag) => {
      const short = flag.short === undefined ? "    " : `-${flag.short}, `;
      const value = flag.type === "switch" ? "" : ` ${flag.placeholder ?? (flag.type === "integer" ? "N" : "TEXT")}`;
      const shown = flag.default === undefined || flag.default === "" ? "" : ` (default ${flag.default})`;
      return [`${short}--${flag.name}${value}`, `${flag.help}${shown}`];
    }),
  );
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join("\n");
}
