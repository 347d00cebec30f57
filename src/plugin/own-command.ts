// Commands that a message tells its reader to run, complete: with the namespace that the message is about and the cluster that the
// reader chose. A command that lacks one of them acts on something else, or on nothing. Pure.
import type { FlagValues } from "./flags.ts";
import { globalArgs, quoted } from "./kubectl.ts";

/** Where a command has to act. A Cluster is one. */
export interface Where {
  /** Undefined: the command is not about one namespace. */
  readonly namespace: string | undefined;
  /** `--context` and `--kubeconfig`, as they were given. */
  readonly reach?: readonly string[] | undefined;
}

/** Every message of this plugin that names one of its commands gets it from here (own-command.test.ts). */
export function ownCommand({ namespace, reach = [] }: Where, words: readonly string[]): string {
  const where = namespace === undefined ? [] : ["-n", namespace];
  return ["kubectl", "firebolt", ...[...words, ...where, ...reach].map(quoted)].join(" ");
}

/** `--context` and `--kubeconfig` of this command line. */
export function reachOf(flags: FlagValues): readonly string[] {
  return globalArgs(flags);
}

/** A next step whose kubectl commands go to the same cluster: its texts come from the operator's side, which knows of no context. */
export function aimed<T extends string | undefined>(next: T, reach: readonly string[] = []): T | string {
  if (next === undefined || reach.length === 0) return next;
  const command = `kubectl ${reach.map(quoted).join(" ")} `;
  // By a function: a context may be called `$&`, which means something in a replacement.
  return next.replaceAll(/\bkubectl (?!firebolt |-)/g, () => command);
}
