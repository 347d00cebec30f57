// kubectl, for what an API client cannot do (port forwards) and as the language of --print-commands. Builds argument
// lists and shell scripts; the caller runs them.
import type { FlagValues } from "../command-line/flags.ts";

export interface KubectlCommand {
  /** Why, as a line above the command. */
  readonly comment: string;
  /** Everything after `kubectl`, unquoted. */
  readonly args: readonly string[];
  /** A manifest for standard input. */
  readonly stdin?: string;
  /** Runs in the background, silently, until the script exits. */
  readonly background?: true;
}

/** The field manager of the plugin's changes. */
export const FIELD_MANAGER = "kubectl-firebolt";

/** Global flags, verb, namespace, rest: the order in which kubectl's own messages show them. */
export function kubectlArgs(flags: FlagValues, verb: string, ...rest: readonly string[]): readonly string[] {
  const namespace = flags.text("namespace");
  return [...globalArgs(flags), verb, ...(namespace === "" ? [] : ["-n", namespace]), ...rest];
}

export function globalArgs(flags: FlagValues): readonly string[] {
  const names = ["kubeconfig", "context"].filter((name) => flags.text(name) !== "");
  return names.map((name) => `--${name}=${flags.text(name)}`);
}

/** A shell script that does what the commands do. */
export function commandsText(commands: readonly (KubectlCommand & { readonly program?: string })[]): string {
  return commands
    .map(({ comment, args, stdin, background, program = "kubectl" }) => {
      const line = [program, ...args].map(quoted).join(" ");
      const input = stdin === undefined ? "" : ` <<'EOF'\n${stdin.replace(/\n$/, "")}\nEOF`;
      const whileRunning = background ? " >/dev/null &\ntrap 'kill $!' EXIT" : "";
      return `# ${comment}\n${line}${input}${whileRunning}\n`;
    })
    .join("\n");
}

/** A duration as kubectl takes it: whole seconds, rounded up. */
export function secondsText(ms: number): string {
  return `${Math.ceil(ms / 1_000)}s`;
}

/** Quoted for a shell. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
