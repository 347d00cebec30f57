// Commands that a message names, complete: with the namespace that the message is about and the cluster that the user
// chose. Without them a command would act on something else, or on nothing. Pure.

import { globalArgs, quoted } from "./cluster/kubectl.ts";
import type { FlagValues } from "./command-line/flags.ts";

/** Where a command acts. A Cluster is one. */
export interface Where {
  /** Undefined: the command is not about one namespace. */
  readonly namespace: string | undefined;
  /** `--context` and `--kubeconfig`, as they were given. */
  readonly clusterArgs?: readonly string[] | undefined;
}

/** Every message of this plugin that names one of its commands gets it from here (own-command.test.ts). */
export function ownCommand({ namespace, clusterArgs = [] }: Where, words: readonly string[]): string {
  const where = namespace === undefined ? [] : ["-n", namespace];
  return ["kubectl", "firebolt", ...[...words, ...where, ...clusterArgs].map(quoted)].join(" ");
}

/** `--context` and `--kubeconfig` of this command line. */
export function clusterArgsOf(flags: FlagValues): readonly string[] {
  return globalArgs(flags);
}

/** A message whose kubectl commands act on the same cluster: messages of the operator name no context. */
export function withClusterArgs<T extends string | undefined>(
  next: T,
  clusterArgs: readonly string[] = [],
): T | string {
  if (next === undefined || clusterArgs.length === 0) return next;
  const command = `kubectl ${clusterArgs.map(quoted).join(" ")} `;
  // With a function: a context named `$&` would be a pattern in a replacement string.
  return next.replaceAll(/\bkubectl (?!firebolt |-)/g, () => command);
}
