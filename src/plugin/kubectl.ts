// kubectl as the tool for what a plain API client cannot do (forwarding ports), and as the language of --print-commands.
// Builds argument lists and shell text; running them is the caller's business.
import type { FlagValues } from "./flags.ts";

export interface KubectlCommand {
  /** Why, as a line above the command. */
  readonly comment: string;
  /** Everything after `kubectl`, unquoted. */
  readonly args: readonly string[];
  /** A manifest for standard input. */
  readonly stdin?: string;
}

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
    .map(({ comment, args, stdin, program = "kubectl" }) => {
      const line = [program, ...args].map(quoted).join(" ");
      const input = stdin === undefined ? "" : ` <<'EOF'\n${stdin.replace(/\n$/, "")}\nEOF`;
      return `# ${comment}\n${line}${input}\n`;
    })
    .join("\n");
}

/** As a shell reads it back. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
