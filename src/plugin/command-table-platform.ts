// The commands about everything at once: seeing, planning, watching, reporting.
import type { Command } from "./command.ts";
import { ALL_NAMESPACES, TREE_OUTPUT, WATCH } from "./global-flags.ts";

export const PLATFORM_COMMANDS: readonly Command[] = [
  {
    words: ["status"],
    summary: "Show instances, engines, generations and pods as a tree, and why whatever waits does so",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [ALL_NAMESPACES, WATCH, { name: "no-pods", type: "switch", help: "leave pods out" }, TREE_OUTPUT],
    examples: [
      ["everything, live", "kubectl firebolt status -A --watch"],
      [
        "engines that wait, for a script",
        "kubectl firebolt status -o json | jq '.instances[].engines[] | select(.waits)'",
      ],
    ],
    load: async () => (await import("./status/status.ts")).runStatus,
  },
  {
    words: ["plan"],
    summary: "Say what applying a file would do: what rolls, what is refused, what takes effect at once",
    about:
      "Asks the API server by a dry run and the operator's own functions for the rest. Nothing is written. Values of variables and of\nthe engine configuration are never shown. The bounds are those of the operator's command line, when it has any.",
    flags: [
      { name: "filename", short: "f", type: "text", placeholder: "FILE", help: "manifest; - reads standard input" },
      { name: "server-side", type: "switch", help: "as kubectl apply --server-side would write it" },
      { name: "detailed-exit-code", type: "switch", help: "exit with 10 when something would roll" },
      { name: "engine-max-cpu", type: "text", placeholder: "QUANTITY", help: "the operator's bound" },
      { name: "engine-max-memory", type: "text", placeholder: "QUANTITY", help: "the operator's bound" },
      { name: "engine-max-ephemeral-storage", type: "text", placeholder: "QUANTITY", help: "the operator's bound" },
      TREE_OUTPUT,
    ],
    examples: [
      ["before kubectl apply", "kubectl firebolt plan -f engine.yaml"],
      ["in a pipeline", "kustomize build . | kubectl firebolt plan -f - --detailed-exit-code"],
    ],
    load: async () => (await import("./plan/plan.ts")).runPlan,
  },
  {
    words: ["rollout", "status"],
    summary: "Show how far the rollout of an engine is; exits with 5 while it is not done",
    arguments: [{ name: "engine", kind: "engine" }],
    flags: [
      { ...WATCH, help: "draw a progress bar until it is done" },
      {
        name: "timeout",
        type: "duration",
        default: "0",
        placeholder: "DURATION",
        help: "with --watch: how long; 0 for no limit",
      },
      TREE_OUTPUT,
    ],
    load: async () => (await import("./rollout/rollout-status.ts")).rolloutStatus,
  },
  {
    words: ["support-bundle"],
    aliases: [["report"]],
    summary: "Collect objects, events, logs and versions of an instance in one archive, without anything secret",
    about:
      "Left out: data of Secrets and ConfigMaps, values of variables, engine configuration, manifests in annotations. Their values, query\ntext and what looks like a credential are taken out of logs and events as well.",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [
      {
        name: "file",
        type: "text",
        placeholder: "FILE",
        help: "where to write it; default: a name with the time in it",
      },
      { name: "no-logs", type: "switch", help: "leave logs out" },
      {
        name: "tail",
        type: "integer",
        default: "2000",
        placeholder: "N",
        help: "the last N lines of every container; -1 for all",
      },
    ],
    load: async () => (await import("./bundle/support-bundle.ts")).supportBundle,
  },
];
