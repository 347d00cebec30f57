// The commands that a page of docs/ shows, what they print, and how the two are compared. CONTRIBUTING.md describes the conventions for
// writers. Pure: reads Markdown, runs nothing.

/** Something to do, in the order of the page. Lines are counted from 1. */
export type DocStep =
  | {
      readonly type: "command";
      readonly line: number;
      readonly script: string;
      /** What the page shows below the command; empty when it shows nothing, and then nothing is compared. */
      readonly output: readonly string[];
      readonly fails: boolean;
      /** The command is repeated until it prints what the page shows. */
      readonly until: boolean;
    }
  | { readonly type: "file"; readonly line: number; readonly name: string; readonly content: string }
  /** Set-up that readers need not see. */
  | { readonly type: "hidden"; readonly line: number; readonly script: string };

export interface DocProblem {
  readonly line: number;
  readonly problem: string;
}

export interface DocPage {
  readonly steps: readonly DocStep[];
  /** Blocks of commands that are not run, with the reason that the page gives. */
  readonly notTested: readonly { readonly line: number; readonly reason: string }[];
  readonly problems: readonly DocProblem[];
}

interface Block {
  readonly line: number;
  readonly language: string;
  readonly words: readonly string[];
  readonly lines: readonly string[];
  /** The last line with something in it before the block. */
  readonly before: string;
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "shell", "zsh"]);
const WORDS: ReadonlySet<string> = new Set(["no-test", "fails", "until"]);
const REASON = /^<!-- no-test: (?<reason>.+) -->$/;
const HIDDEN = /^<!-- test: (?<script>.+) -->$/;
const FILE = /^# file: (?<name>[\w.-]+)$/;

export function parseDocPage(text: string): DocPage {
  const steps: DocStep[] = [];
  const notTested: { line: number; reason: string }[] = [];
  const problems: DocProblem[] = [];
  for (const part of partsOf(text)) {
    if ("script" in part) {
      steps.push({ type: "hidden", ...part });
      continue;
    }
    const name = FILE.exec(part.lines[0] ?? "")?.groups?.["name"];
    if (name !== undefined) {
      const content = part.lines.slice(1).map((line) => `${line}\n`);
      steps.push({ type: "file", line: part.line, name, content: content.join("") });
      continue;
    }
    if (part.language !== "console" && !SHELLS.has(part.language)) continue;
    const { line } = part;
    for (const word of part.words) if (!WORDS.has(word)) problems.push({ line, problem: `unknown word "${word}"` });
    if (part.words.includes("no-test")) {
      const reason = REASON.exec(part.before)?.groups?.["reason"];
      if (reason === undefined)
        problems.push({ line, problem: "no-test without <!-- no-test: REASON --> on the line before" });
      else notTested.push({ line, reason });
    } else if (part.language === "console") {
      const commands = commandsOf(part);
      if (commands.length === 0) problems.push({ line, problem: "a console block without a line that begins with $" });
      steps.push(...commands);
    } else {
      problems.push({
        line,
        problem: `a ${part.language} block is not run: make it console, or no-test with a reason`,
      });
    }
  }
  return { steps, notTested, problems };
}

function* partsOf(text: string): Generator<Block | { readonly line: number; readonly script: string }> {
  const lines = text.split("\n");
  let before = "";
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const fence = /^(?<indent> *)(?<ticks>```+)(?<info>.*)$/.exec(line)?.groups;
    if (fence === undefined) {
      const script = HIDDEN.exec(line)?.groups?.["script"];
      if (script !== undefined) yield { line: index + 1, script };
      if (line.trim() !== "") before = line.trim();
      continue;
    }
    const { indent = "", ticks = "", info = "" } = fence;
    const end = lines.findIndex((later, at) => at > index && later.trim() === ticks);
    const last = end < 0 ? lines.length : end;
    const [language = "", ...words] = info.trim().split(/\s+/);
    const inside = lines
      .slice(index + 1, last)
      .map((inner) => (inner.startsWith(indent) ? inner.slice(indent.length) : inner));
    yield { line: index + 1, language, words, lines: inside, before };
    before = "";
    index = last;
  }
}

/** `$ ` starts a command, `> ` continues it, everything else is its output. */
function commandsOf({ line, lines, words }: Block): readonly DocStep[] {
  const commands: { line: number; script: string; output: string[] }[] = [];
  for (const [index, text] of lines.entries()) {
    const command = commands.at(-1);
    if (text.startsWith("$ ")) commands.push({ line: line + 1 + index, script: text.slice(2), output: [] });
    else if (text.startsWith("> ") && command?.output.length === 0) command.script += `\n${text.slice(2)}`;
    else command?.output.push(text);
  }
  const until = words.includes("until");
  return commands.map((command, index) => ({
    ...command,
    type: "command",
    output: withoutBlankEnds(command.output),
    fails: words.includes("fails") && index === commands.length - 1,
    until,
  }));
}

function withoutBlankEnds(lines: readonly string[]): readonly string[] {
  const filled = lines.flatMap((line, index) => (line.trim() === "" ? [] : [index]));
  return lines.slice(filled[0] ?? lines.length, (filled.at(-1) ?? -1) + 1);
}

/**
 * Whether a command printed what the page shows. A line of `…` alone stands for any number of lines, inside a line it stands for any
 * text. Widths of columns and blank ends do not count.
 */
export function printsAsShown(shown: readonly string[], printed: string): boolean {
  const pattern = shown
    .map((line) =>
      line.trim() === "…" ? "(?:[^\\n]*\\n)*" : `${line.trim().split("…").map(escaped).join("[^\\n]*")}\\n`,
    )
    .join("");
  const lines = withoutBlankEnds(printed.split("\n")).map((line) => `${line.trim().replaceAll(/[ \t]+/g, " ")}\n`);
  return new RegExp(`^${pattern}$`).test(lines.join(""));
}

const escaped = (text: string): string => text.replaceAll(/[ \t]+/g, " ").replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
