// The commands for engines.

import type { Flag } from "../command-line/flags.ts";
import type { Command } from "./command.ts";
import { ALL_NAMESPACES, LIST_OUTPUT, SELECTOR, TREE_OUTPUT, WAIT, WATCH } from "./global-flags.ts";
import { LOCAL_PORT, LOG_FLAGS } from "./shared-flags.ts";

const ENGINE = [{ name: "engine", kind: "engine" }] as const;
const REPLICAS: Flag = { name: "replicas", type: "integer", placeholder: "N", help: "number of nodes" };

export const ENGINE_COMMANDS: readonly Command[] = [
  {
    words: ["engine", "list"],
    summary: "List engines",
    flags: [
      ALL_NAMESPACES,
      { name: "instance", type: "text", placeholder: "NAME", help: "only engines of this instance" },
      SELECTOR,
      LIST_OUTPUT,
      WATCH,
    ],
    load: async () => (await import("../status/lists.ts")).listEngines,
  },
  {
    words: ["engine", "status"],
    summary: "Show one engine: conditions, generations, pods, events, and the reason it is waiting",
    arguments: ENGINE,
    flags: [TREE_OUTPUT],
    load: async () => (await import("../status/describe.ts")).engineStatus,
  },
  {
    words: ["engine", "create"],
    summary: "Create an engine and wait until it is ready; an engine that exists is not changed",
    arguments: [{ name: "engine" }],
    flags: [
      { name: "instance", type: "text", placeholder: "NAME", help: "the instance it belongs to (required)" },
      { ...REPLICAS, default: "1" },
      { name: "type", type: "text", placeholder: "CLASS", help: "the engine class to start from" },
      { name: "image", type: "text", placeholder: "REFERENCE", help: "image of the engine container" },
      { name: "bucket", type: "text", placeholder: "NAME", help: "bucket for managed tables" },
      {
        name: "storage-type",
        type: "text",
        default: "s3",
        values: ["s3", "gcs", "abs"],
        placeholder: "TYPE",
        help: "what kind of bucket: s3, gcs or abs",
      },
      { name: "host-path", type: "text", placeholder: "PATH", help: "directory on the node for the data volume" },
      { name: "overwrite", type: "switch", help: "change an existing engine, including fields that others manage" },
      { name: "timeout", type: "duration", default: "5m", placeholder: "DURATION", help: "how long to wait" },
    ],
    examples: [
      [
        "two nodes of a class",
        "kubectl firebolt engine create reporting --instance lakeside --type accel-large --replicas 2",
      ],
      [
        "see the commands first",
        "kubectl firebolt engine create adhoc --instance lakeside --bucket tables --print-commands",
      ],
    ],
    load: async () => (await import("../engine/create.ts")).createEngine,
  },
  {
    words: ["engine", "delete"],
    summary: "Delete an engine; succeeds if it does not exist",
    arguments: ENGINE,
    flags: [
      { name: "wait", type: "switch", default: "true", help: "wait until it is deleted" },
      { name: "timeout", type: "duration", default: "5m", placeholder: "DURATION", help: "how long to wait" },
    ],
    load: async () => (await import("../engine/delete.ts")).deleteEngine,
  },
  {
    words: ["engine", "scale"],
    summary: "Change the number of nodes of an engine",
    about: "Every change starts a new generation: old and new nodes run side by side until the new ones are ready.",
    arguments: ENGINE,
    flags: [REPLICAS, ...WAIT],
    load: async () => (await import("../engine/change.ts")).scaleEngine,
  },
  {
    words: ["engine", "stop"],
    aliases: [["stop"]],
    summary: "Stop an engine: running queries finish, then its pods are deleted; the engine can be started again",
    about:
      "A wake request of the last minutes is withdrawn. With auto-stop enabled, a query, a schedule or a new wake request starts the engine again: --wait exits with 5 if that happens before it is stopped.",
    arguments: ENGINE,
    flags: WAIT,
    load: async () => (await import("../engine/change.ts")).stopEngine,
  },
  {
    words: ["engine", "start"],
    aliases: [["start"]],
    summary: "Start a stopped engine",
    about: "Starts as many nodes as the engine had before `engine stop`, else autoStop.activeReplicas, else 1.",
    arguments: ENGINE,
    flags: [REPLICAS, ...WAIT],
    load: async () => (await import("../engine/change.ts")).startEngine,
  },
  {
    words: ["engine", "restart"],
    summary: "Replace all nodes of an engine with a new generation of the same spec",
    arguments: ENGINE,
    flags: WAIT,
    load: async () => (await import("../engine/change.ts")).restartEngine,
  },
  {
    words: ["engine", "wake"],
    aliases: [["wake"]],
    summary: "Request the start of an engine that auto-stop has stopped, as a query would",
    arguments: ENGINE,
    flags: WAIT,
    load: async () => (await import("../engine/change.ts")).wakeEngine,
  },
  {
    words: ["engine", "logs"],
    aliases: [["logs"]],
    summary: "Show the logs of all pods of an engine, merged by time",
    arguments: ENGINE,
    flags: [{ name: "generation", type: "text", placeholder: "N", help: "only pods of this generation" }, ...LOG_FLAGS],
    examples: [["follow a new generation while it starts", "kubectl firebolt logs adhoc --generation 3 -f"]],
    load: async () => (await import("../logs/logs.ts")).engineLogs,
  },
  {
    words: ["engine", "query"],
    summary: "Send one SQL statement to an engine, through the gateway",
    arguments: [...ENGINE, { name: "statement" }],
    flags: [
      LOCAL_PORT,
      {
        name: "timeout",
        type: "duration",
        default: "5m",
        placeholder: "DURATION",
        help: "how long the query may take; 0 for no limit",
      },
    ],
    examples: [["one statement", 'kubectl firebolt engine query adhoc "SELECT 42"']],
    load: async () => (await import("../forward/query.ts")).queryEngine,
  },
  {
    words: ["engine", "port-forward"],
    summary: "Forward a local port to an engine, bypassing the gateway",
    arguments: ENGINE,
    flags: [LOCAL_PORT],
    load: async () => (await import("../forward/port-forward.ts")).forwardEngine,
  },
];
