// Runs the steps of one page in its shell and reports where the page is wrong. Independent of clusters: the commands
// find what they need on their PATH and in their folder.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type DocStep, printsAsShown } from "./commands.ts";
import type { DocShell } from "./shell.ts";

/** The longest that one command may take. */
const COMMAND_MS = 300_000;
/** How long a command is repeated until it prints what the page shows, and how often. */
const UNTIL_MS = 180_000;
const AGAIN_MS = 500;

export interface DocContext {
  readonly shell: DocShell;
  /** Where files of the page are written. */
  readonly folder: string;
  /** Pause before a command is repeated. */
  readonly againMs?: number;
}

/** Throws at the first step that does not match the page, with its line. */
export async function runStep(step: DocStep, { shell, folder, againMs = AGAIN_MS }: DocContext): Promise<void> {
  switch (step.type) {
    case "file":
      writeFileSync(join(folder, step.name), step.content);
      return;
    case "hidden": {
      const { printed, code } = await shell.run(step.script, COMMAND_MS);
      if (code !== 0) throw new Error(`line ${step.line}: set-up ended with ${code}: ${step.script}\n${printed}`);
      return;
    }
    case "command":
      await runCommand(step, shell, againMs);
      return;
    default:
      step satisfies never;
  }
}

async function runCommand(
  step: DocStep & { readonly type: "command" },
  shell: DocShell,
  againMs: number,
): Promise<void> {
  const deadlineMs = performance.now() + (step.until ? UNTIL_MS : 0);
  for (;;) {
    const { printed, code } = await shell.run(step.script, COMMAND_MS);
    const problem = problemOf(step, printed, code);
    if (problem === undefined) return;
    if (performance.now() >= deadlineMs)
      throw new Error(
        `line ${step.line}: ${problem}\n$ ${step.script}\n--- shown\n${step.output.join("\n")}\n--- printed\n${printed}`,
      );
    await sleep(againMs);
  }
}

function problemOf({ fails, output }: DocStep & { readonly type: "command" }, printed: string, code: number) {
  if (fails && code === 0) return "exited with 0, but the page expects a failure";
  if (!fails && code !== 0) return `ended with ${code}`;
  return output.length === 0 || printsAsShown(output, printed)
    ? undefined
    : "printed something else than the page shows";
}
