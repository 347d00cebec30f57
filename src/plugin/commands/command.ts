// A command as data: words, flags, help, and a loader for the code that runs it.

import type { Clock } from "@firebolt-operator/kube";
import type { Cluster } from "../cluster/cluster.ts";
import type { ExitCode } from "../command-line/exit-codes.ts";
import type { Flag, FlagValues } from "../command-line/flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface CommandContext {
  readonly args: readonly string[];
  readonly flags: FlagValues;
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Fires on Ctrl+C. */
  readonly signal: AbortSignal;
  /** Every command, for completion. */
  readonly commands: readonly Command[];
  /** Reads the kubeconfig; opens no connection before the first call. */
  readonly connect: () => Promise<Cluster>;
}

export type Run = (context: CommandContext) => Promise<ExitCode>;

/** A positional argument. */
export interface Argument {
  readonly name: string;
  readonly optional?: true;
  /** Any number of them; the last argument only. */
  readonly many?: true;
  /** What the shell completes it with. */
  readonly kind?: "engine" | "instance" | "class" | "shell";
}

export interface Command {
  /** `["engine", "list"]` */
  readonly words: readonly string[];
  /** Alternative spellings of the whole command. */
  readonly aliases?: readonly (readonly string[])[];
  readonly summary: string;
  /** Further paragraphs of the help. */
  readonly about?: string;
  readonly arguments?: readonly Argument[];
  readonly flags?: readonly Flag[];
  readonly examples?: readonly (readonly [string, string])[];
  readonly hidden?: true;
  readonly load: () => Promise<Run>;
}

/** A word that is only a prefix of commands. */
export interface CommandGroup {
  readonly word: string;
  readonly summary: string;
}
