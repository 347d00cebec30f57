// `completion SHELL` prints a script with which the shell calls `__complete`, which prints the completions. Names of
// objects come from the cluster, within a second or not at all.
import type { ResourceType } from "@firebolt-operator/kube";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { connect } from "../cluster/cluster.ts";
import { listObjects, nameOf } from "../cluster/find-object.ts";
import type { Argument, CommandContext, Run } from "../commands/command.ts";
import { GLOBAL_FLAGS } from "../commands/global-flags.ts";
import { readFlags } from "./command-line.ts";
import { completions } from "./completion-words.ts";
import { EXIT, UsageError } from "./exit-codes.ts";

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_kubectl_firebolt() {
  local IFS=$'\\n'
  COMPREPLY=( $(compgen -W "$(kubectl-firebolt __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}") )
}
complete -F _kubectl_firebolt kubectl-firebolt
`,
  zsh: `#compdef kubectl-firebolt
_kubectl_firebolt() {
  local -a candidateWords
  candidateWords=("\${(@f)$(kubectl-firebolt __complete -- "\${words[@]:1:$((CURRENT-1))}" 2>/dev/null)}")
  compadd -a candidateWords
}
compdef _kubectl_firebolt kubectl-firebolt
`,
  fish: `complete -c kubectl-firebolt -f -a '(kubectl-firebolt __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
  kubectl: `#!/bin/sh
# Save as kubectl_complete-firebolt on the PATH, executable: kubectl then completes "kubectl firebolt".
kubectl-firebolt __complete -- "$@" 2>/dev/null
echo ":4"
`,
};

const NAMES_WITHIN_MS = 1_000;

const TYPES: Readonly<Record<"engine" | "instance" | "class", ResourceType>> = {
  engine: FireboltEngine,
  instance: FireboltInstance,
  class: FireboltEngineClass,
};

export const printCompletion: Run = async ({ args, terminal }) => {
  const script = SCRIPTS[args[0] ?? ""];
  if (script === undefined)
    throw new UsageError(`completion for which shell? One of ${Object.keys(SCRIPTS).join(", ")}`);
  terminal.out(script);
  return EXIT.ok;
};

export const complete: Run = async (context) => {
  const words = context.args;
  const [done, last] = [words.slice(0, -1), words.at(-1) ?? ""];
  const candidates = completions(context.commands, done, last);
  const candidateWords =
    candidates.type === "words" ? candidates.words : await namesFor(context, candidates.kind, done);
  context.terminal.out(
    candidateWords
      .filter((word) => word.startsWith(last))
      .map((word) => `${word}\n`)
      .join(""),
  );
  return EXIT.ok;
};

/** The cluster and the namespace are those of the line that is being typed. */
async function namesFor(
  { env, signal }: CommandContext,
  kind: NonNullable<Argument["kind"]>,
  done: readonly string[],
): Promise<readonly string[]> {
  if (kind === "shell") return Object.keys(SCRIPTS);
  using cluster = await connect({ flags: readFlags(done, GLOBAL_FLAGS, { unknown: "skip" }).flags, env, signal });
  const { namespace, call } = cluster;
  const quick = { ...cluster, call: { ...call, timeoutMs: NAMES_WITHIN_MS } };
  const { items } = await listObjects(quick, TYPES[kind], { namespace });
  return items.map(nameOf);
}
