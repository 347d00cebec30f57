// Every command of the plugin: words, flags, help and where its code is. The code is loaded only for the command that
// runs.
import type { Command, CommandGroup } from "./command.ts";
import { ENGINE_COMMANDS } from "./engine-commands.ts";
import { ALL_NAMESPACES, LIST_OUTPUT, SELECTOR, TREE_OUTPUT, WATCH } from "./global-flags.ts";
import { PLATFORM_COMMANDS } from "./platform-commands.ts";
import { SETUP_COMMANDS } from "./setup-commands.ts";
import { LOCAL_PORT, LOG_FLAGS } from "./shared-flags.ts";

export const GROUPS: readonly CommandGroup[] = [
  { word: "engine", summary: "List, create, change, query and diagnose engines" },
  { word: "instance", summary: "List and diagnose instances, read their logs, forward ports" },
  { word: "class", summary: "List engine classes and show the resulting engine configuration" },
  { word: "rollout", summary: "Show the progress of engine rollouts" },
];

const INSTANCE_COMMANDS: readonly Command[] = [
  {
    words: ["instance", "list"],
    summary: "List instances",
    flags: [ALL_NAMESPACES, SELECTOR, LIST_OUTPUT, WATCH],
    load: async () => (await import("../status/lists.ts")).listInstances,
  },
  {
    words: ["instance", "status"],
    summary: "Show one instance: conditions, engines, events, and the reason it is waiting",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [TREE_OUTPUT],
    load: async () => (await import("../status/describe.ts")).instanceStatus,
  },
  {
    words: ["instance", "logs"],
    summary: "Show the logs of all pods of an instance, merged by time",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [
      {
        name: "component",
        type: "text",
        values: ["metadata", "gateway", "postgres"],
        placeholder: "NAME",
        help: "metadata, gateway or postgres; default: all of them",
      },
      ...LOG_FLAGS,
    ],
    load: async () => (await import("../logs/logs.ts")).instanceLogs,
  },
  {
    words: ["instance", "port-forward"],
    summary: "Forward a local port to the gateway of an instance",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [LOCAL_PORT],
    load: async () => (await import("../forward/port-forward.ts")).forwardInstance,
  },
];

const CLASS_COMMANDS: readonly Command[] = [
  {
    words: ["class", "list"],
    summary: "List engine classes",
    flags: [ALL_NAMESPACES, SELECTOR, LIST_OUTPUT, WATCH],
    load: async () => (await import("../status/lists.ts")).listClasses,
  },
  {
    words: ["class", "show"],
    summary: "Show the engines of a class and the resulting configuration of one of them",
    arguments: [{ name: "class", kind: "class" }],
    flags: [
      { name: "engine", type: "text", placeholder: "NAME", help: "show the resulting configuration of this engine" },
      TREE_OUTPUT,
    ],
    load: async () => (await import("../engine/class-show.ts")).showClass,
  },
];

/** In the order of the overview: diagnosis, changes, setup. */
export const COMMANDS: readonly Command[] = [
  ...PLATFORM_COMMANDS,
  ...ENGINE_COMMANDS,
  ...INSTANCE_COMMANDS,
  ...CLASS_COMMANDS,
  ...SETUP_COMMANDS,
];
