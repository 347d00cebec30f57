// The commands for everything at once: status, plan, rollout, support bundle.
import type { Command } from "./command.ts";
import { ALL_NAMESPACES, TREE_OUTPUT, WATCH } from "./global-flags.ts";

export const PLATFORM_COMMANDS: readonly Command[] = [
  {
    words: ["status"],
    summary: "Show instances, engines, generations and pods as a tree, with the reason for anything that is waiting",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [
      ALL_NAMESPACES,
      WATCH,
      {
        name: "gateways",
        type: "switch",
        help: "also read every gateway pod: its discovery state, and queries, connections and endpoints per engine",
      },
      { name: "no-pods", type: "switch", help: "do not show pods of engines" },
      TREE_OUTPUT,
    ],
    examples: [
      ["everything, live", "kubectl firebolt status -A --watch"],
      ["where gateways send queries", "kubectl firebolt status --gateways --no-pods"],
      [
        "engines that are waiting, for a script",
        "kubectl firebolt status -o json | jq '.instances[].engines[] | select(.waits)'",
      ],
    ],
    load: async () => (await import("../status/status.ts")).runStatus,
  },
  {
    words: ["plan"],
    summary: "Show what applying a file would do: what rolls, what is rejected, what takes effect immediately",
    about:
      "Uses a dry run of the API server and the operator's own functions. Nothing is written. Values of variables, commands, annotations, volumes and the engine configuration are never shown. If the operator has resource bounds, pass them.",
    flags: [
      { name: "filename", short: "f", type: "text", placeholder: "FILE", help: "manifest; - reads standard input" },
      { name: "server-side", type: "switch", help: "plan for kubectl apply --server-side" },
      { name: "detailed-exit-code", type: "switch", help: "exit with 10 if something would roll" },
      { name: "engine-max-cpu", type: "text", placeholder: "QUANTITY", help: "resource bound of the operator" },
      { name: "engine-max-memory", type: "text", placeholder: "QUANTITY", help: "resource bound of the operator" },
      {
        name: "engine-max-ephemeral-storage",
        type: "text",
        placeholder: "QUANTITY",
        help: "resource bound of the operator",
      },
      TREE_OUTPUT,
    ],
    examples: [
      ["before kubectl apply", "kubectl firebolt plan -f engine.yaml"],
      ["in a pipeline", "kustomize build . | kubectl firebolt plan -f - --detailed-exit-code"],
    ],
    load: async () => (await import("../plan/plan.ts")).runPlan,
  },
  {
    words: ["rollout", "status"],
    summary: "Show the progress of an engine's rollout; exits with 5 until it is complete",
    arguments: [{ name: "engine", kind: "engine" }],
    flags: [
      { ...WATCH, help: "show a progress bar until it is complete" },
      {
        name: "timeout",
        type: "duration",
        default: "0",
        placeholder: "DURATION",
        help: "with --watch: how long to wait; 0 for no limit",
      },
      TREE_OUTPUT,
    ],
    load: async () => (await import("../rollout/rollout-status.ts")).rolloutStatus,
  },
  {
    words: ["support-bundle"],
    aliases: [["report"]],
    summary: "Collect objects, events, logs and versions of an instance in one archive, with secrets removed",
    about:
      "Left out: data of Secrets and ConfigMaps, values of variables, engine configuration, manifests in annotations. Their values, query text and what looks like a credential are removed from logs and events as well.",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [
      {
        name: "file",
        type: "text",
        placeholder: "FILE",
        help: "where to write it; default: a name with the time in it",
      },
      { name: "no-logs", type: "switch", help: "do not include logs" },
      {
        name: "tail",
        type: "integer",
        default: "2000",
        placeholder: "N",
        help: "the last N lines of every container; -1 for all",
      },
    ],
    load: async () => (await import("../bundle/support-bundle.ts")).supportBundle,
  },
];
