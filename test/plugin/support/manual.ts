// The commands and outputs that a manual shows: its `console` blocks, its files, and the steps between them. Reads and
// writes Markdown; runs nothing.

export type ManualPart =
  | {
      readonly type: "command";
      readonly line: string;
      readonly output: string;
      readonly start: number;
      readonly end: number;
    }
  | { readonly type: "file"; readonly name: string; readonly content: string }
  | { readonly type: "step"; readonly name: string };

const PART =
  /^<!-- before: (?<step>.+) -->$|^```console\n\$ (?<line>.+)\n(?<output>[\s\S]*?)```$|^```yaml\n# (?<name>\S+\.yaml)\n(?<content>[\s\S]*?)```$/gm;

export function readManual(text: string): readonly ManualPart[] {
  return [...text.matchAll(PART)].map((match): ManualPart => {
    const { step, line, output = "", name, content = "" } = match.groups ?? {};
    if (step !== undefined) return { type: "step", name: step };
    if (name !== undefined) return { type: "file", name, content };
    return { type: "command", line: line ?? "", output, start: match.index, end: match.index + match[0].length };
  });
}

/** The manual with other outputs, in the order of its commands. */
export function writeManual(text: string, outputs: readonly string[]): string {
  const commands = readManual(text).filter((part) => part.type === "command");
  let [result, from] = ["", 0];
  for (const [index, { line, start, end }] of commands.entries()) {
    result += `${text.slice(from, start)}\`\`\`console\n$ ${line}\n${outputs[index] ?? ""}\`\`\``;
    from = end;
  }
  return result + text.slice(from);
}

/** The words of a command line as a shell would see them; double quotes only. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
