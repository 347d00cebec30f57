// Every command of the plugin: words, flags, help and where its code is. The code is loaded only for the command that runs.
import type { Command, CommandGroup } from "./command.ts";
import { ENGINE_COMMANDS } from "./command-table-engine.ts";
import { PLATFORM_COMMANDS } from "./command-table-platform.ts";
import { SETUP_COMMANDS } from "./command-table-setup.ts";
import { ALL_NAMESPACES, LIST_OUTPUT, SELECTOR, TREE_OUTPUT, WATCH } from "./global-flags.ts";
import { LOCAL_PORT, LOG_FLAGS } from "./shared-flags.ts";

export const GROUPS: readonly CommandGroup[] = [
  { word: "engine", summary: "Engines: list, create, change, query, diagnose" },
  { word: "instance", summary: "Instances: list, diagnose, reach" },
  { word: "class", summary: "Engine classes: list them, and see what they come to" },
  { word: "rollout", summary: "Rollouts of engines" },
];

const INSTANCE_COMMANDS: readonly Command[] = [
  {
    words: ["instance", "list"],
    summary: "List instances",
    flags: [ALL_NAMESPACES, SELECTOR, LIST_OUTPUT, WATCH],
    load: async () => (await import("./lists.ts")).listInstances,
  },
  {
    words: ["instance", "status"],
    summary: "Show one instance in full: conditions, engines, events, and why it waits",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [TREE_OUTPUT],
    load: async () => (await import("./status/describe.ts")).instanceStatus,
  },
  {
    words: ["instance", "logs"],
    summary: "Show the logs of an instance's pods as one",
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
    load: async () => (await import("./logs/logs.ts")).instanceLogs,
  },
  {
    words: ["instance", "port-forward"],
    summary: "Make the gateway of an instance reachable on this machine",
    arguments: [{ name: "instance", optional: true, kind: "instance" }],
    flags: [LOCAL_PORT],
    load: async () => (await import("./forward/port-forward.ts")).forwardInstance,
  },
];

const CLASS_COMMANDS: readonly Command[] = [
  {
    words: ["class", "list"],
    summary: "List engine classes",
    flags: [ALL_NAMESPACES, SELECTOR, LIST_OUTPUT, WATCH],
    load: async () => (await import("./lists.ts")).listClasses,
  },
  {
    words: ["class", "show"],
    summary: "Show the engines of a class, and what class and engine come to together",
    arguments: [{ name: "class", kind: "class" }],
    flags: [{ name: "engine", type: "text", placeholder: "NAME", help: "the engine to show it for" }, TREE_OUTPUT],
    load: async () => (await import("./engine/class-show.ts")).showClass,
  },
];

/** In the order of the overview: looking, changing, then what is needed once. */
export const COMMANDS: readonly Command[] = [
  ...PLATFORM_COMMANDS,
  ...ENGINE_COMMANDS,
  ...INSTANCE_COMMANDS,
  ...CLASS_COMMANDS,
  ...SETUP_COMMANDS,
];
