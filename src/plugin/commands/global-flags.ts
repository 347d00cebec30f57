// Flags of every command, and flags that several commands share.
import type { Flag } from "../command-line/flags.ts";

export const GLOBAL_FLAGS: readonly Flag[] = [
  { name: "namespace", short: "n", type: "text", placeholder: "NAME", help: "namespace; default: the context's" },
  { name: "context", type: "text", placeholder: "NAME", help: "context of the kubeconfig to use" },
  {
    name: "kubeconfig",
    type: "text",
    placeholder: "FILE",
    help: "kubeconfig file; default: $KUBECONFIG, ~/.kube/config",
  },
  {
    name: "request-timeout",
    type: "duration",
    default: "30s",
    placeholder: "DURATION",
    help: "how long one call to the API server may take; 0 for no limit",
  },
  {
    name: "print-commands",
    alias: "debug",
    type: "switch",
    help: "print the equivalent kubectl commands and change nothing",
  },
  { name: "help", short: "h", type: "switch", help: "show the help of the command" },
  { name: "version", type: "switch", help: "print the version" },
];

export const ALL_NAMESPACES: Flag = {
  name: "all-namespaces",
  short: "A",
  type: "switch",
  help: "all namespaces",
};

export const SELECTOR: Flag = {
  name: "selector",
  short: "l",
  type: "text",
  placeholder: "QUERY",
  help: "label selector, as for kubectl get",
};

export const LIST_OUTPUT: Flag = {
  name: "output",
  short: "o",
  type: "text",
  default: "table",
  values: ["table", "wide", "json", "yaml", "name"],
  placeholder: "FORMAT",
  help: "table, wide, json, yaml or name",
};

export const TREE_OUTPUT: Flag = {
  name: "output",
  short: "o",
  type: "text",
  default: "text",
  values: ["text", "json", "yaml"],
  placeholder: "FORMAT",
  help: "text for people, json or yaml for programs",
};

export const WATCH: Flag = { name: "watch", short: "w", type: "switch", help: "keep watching until Ctrl+C" };

export const WAIT: readonly Flag[] = [
  { name: "wait", type: "switch", help: "wait until the change is complete" },
  { name: "timeout", type: "duration", default: "5m", placeholder: "DURATION", help: "how long to wait" },
];
