// The help, generated from the command table: an overview, and the help of each group and command. Pure.

import { EXIT_MEANINGS } from "../command-line/exit-codes.ts";
import type { Flag } from "../command-line/flags.ts";
import type { Style } from "../terminal/style.ts";
import { wrapBehind, wrapLines } from "../terminal/wrap.ts";
import type { Command, CommandGroup } from "./command.ts";
import { GLOBAL_FLAGS } from "./global-flags.ts";

export interface HelpInput {
  readonly commands: readonly Command[];
  readonly groups: readonly CommandGroup[];
  readonly words: readonly string[];
  readonly style: Style;
  /** Columns after which lines are wrapped; undefined: never. */
  readonly width?: number | undefined;
}

export function helpText(input: HelpInput): string {
  const { commands, words } = input;
  const command = commands.find(({ words: own }) => own.join(" ") === words.join(" "));
  const sections = command === undefined ? groupHelp(input) : commandHelp(command, input);
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function groupHelp({ commands, groups, words, style, width }: HelpInput): readonly string[] {
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
      ? "Inspect, plan, change and diagnose Firebolt instances and engines on Kubernetes."
      : (groups.find(({ word }) => word === words[0])?.summary ?? "");
  return [
    prose(about, width),
    section("Usage", `  ${["kubectl firebolt", ...words].join(" ")} COMMAND [flags]`, style),
    section("Commands", columns([...rows], width), style),
    depth === 0 ? section("Shortcuts", shortcuts(commands, width), style) : "",
    depth === 0 ? section("Flags of every command", flagRows(GLOBAL_FLAGS, width), style) : "",
    depth === 0
      ? section(
          "Exit codes",
          columns(
            EXIT_MEANINGS.map(([code, text]) => [String(code), text]),
            width,
          ),
          style,
        )
      : "",
    `Run ${style.bold([...["kubectl firebolt", ...words], "COMMAND --help"].join(" "))} for the flags and examples of one command.`,
  ];
}

function commandHelp(command: Command, { style, width }: HelpInput): readonly string[] {
  const { words, aliases = [], summary, about = "", flags = [], examples = [] } = command;
  const args = (command.arguments ?? []).map(({ name, optional }) =>
    optional === undefined ? name.toUpperCase() : `[${name.toUpperCase()}]`,
  );
  return [
    prose(`${summary}.`, width),
    prose(about, width),
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
    flags.length === 0 ? "" : section("Flags", flagRows(flags, width), style),
    section("Flags of every command", flagRows(GLOBAL_FLAGS, width), style),
  ];
}

/** Commands with an alias of one word. */
function shortcuts(commands: readonly Command[], width: number | undefined): string {
  const rows = commands.flatMap(({ words, aliases = [] }) =>
    aliases.map((alias) => [alias.join(" "), `the same as ${words.join(" ")}`] as const),
  );
  return columns(rows, width);
}

/** Longer lines of prose are hard to read, however wide the terminal is. */
const PROSE_COLUMNS = 120;
const prose = (text: string, width: number | undefined): string =>
  wrapLines(text, Math.min(width ?? PROSE_COLUMNS, PROSE_COLUMNS)).join("\n");

const section = (title: string, body: string, style: Style): string => `${style.bold(`${title}:`)}\n${body}`;

function flagRows(flags: readonly Flag[], width: number | undefined): string {
  return columns(
    flags.map((flag) => {
      const short = flag.short === undefined ? "    " : `-${flag.short}, `;
      const value = flag.type === "switch" ? "" : ` ${flag.placeholder ?? (flag.type === "integer" ? "N" : "TEXT")}`;
      const shown = flag.default === undefined || flag.default === "" ? "" : ` (default ${flag.default})`;
      return [`${short}--${flag.name}${value}`, `${flag.help}${shown}`];
    }),
    width,
  );
}

function columns(rows: readonly (readonly [string, string])[], width: number | undefined): string {
  const left = Math.max(...rows.map(([text]) => text.length));
  const rest = " ".repeat(left + 5);
  return rows
    .flatMap(([name, text]) => wrapBehind(text, { first: `  ${name.padEnd(left)}   `, rest, width }))
    .join("\n");
}
