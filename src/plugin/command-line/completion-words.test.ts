import { expect, test } from "vitest";
import { COMMANDS } from "../commands/command-table.ts";
import { completions } from "./completion-words.ts";

const words = (line: string) => {
  const all = line.split(" ");
  const found = completions(COMMANDS, all.slice(0, -1), all.at(-1) ?? "");
  return found.type === "words" ? found.words.filter((word) => word.startsWith(all.at(-1) ?? "")) : found.kind;
};

test.each([
  ["eng", ["engine"]],
  ["st", ["status", "stop", "start"]],
  ["engine st", ["status", "stop", "start"]],
  ["-n team engine st", ["status", "stop", "start"]],
  ["engine stop ", "engine"],
  ["stop ", "engine"],
  ["engine stop -n team ", "engine"],
  ["engine stop --wait ", "engine"],
  ["engine stop adhoc ", []],
  ["class show ", "class"],
  ["instance status ", "instance"],
  ["completion ", "shell"],
  ["engine list --out", ["--output"]],
  ["status --g", ["--gateways"]],
  ["__", []],
])("%s", (line, expected) => expect(words(line)).toEqual(expected));
