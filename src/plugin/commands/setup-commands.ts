// The commands for setup: install, uninstall, completion, version.

import type { Flag } from "../command-line/flags.ts";
import type { Command } from "./command.ts";
import { TREE_OUTPUT } from "./global-flags.ts";

const TIMEOUT: Flag = {
  name: "timeout",
  type: "duration",
  default: "5m",
  placeholder: "DURATION",
  help: "how long to wait",
};

const OPERATOR_NAMESPACE: Flag = {
  name: "operator-namespace",
  type: "text",
  default: "firebolt-operator",
  placeholder: "NAME",
  help: "namespace of the operator's releases",
};

const INSTALL: readonly Flag[] = [
  {
    name: "charts",
    type: "text",
    placeholder: "LOCATION",
    help: "folder or oci:// path of the two charts; default: $FIREBOLT_CHARTS",
  },
  OPERATOR_NAMESPACE,
  { name: "set", type: "text", placeholder: "K=V,…", help: "values of the operator's chart" },
  { name: "values", type: "text", placeholder: "FILE", help: "values file of the operator's chart" },
  TIMEOUT,
];

export const SETUP_COMMANDS: readonly Command[] = [
  {
    words: ["install"],
    summary: "Install or upgrade the custom resource definitions and the operator with Helm",
    flags: INSTALL,
    load: async () => (await import("../install/install.ts")).runInstall,
  },
  {
    words: ["quickstart"],
    summary: "Install the operator and create a first instance and engine",
    about:
      "The instance and the engine are created in namespace firebolt, or in that of -n. If they exist, fields that others manage are not changed.",
    flags: [
      ...INSTALL,
      { name: "skip-install", type: "switch", help: "do not install the operator: it is already installed" },
      { name: "instance", type: "text", default: "quickstart", placeholder: "NAME", help: "name of the instance" },
      { name: "engine", type: "text", default: "my-engine", placeholder: "NAME", help: "name of the engine" },
      { name: "bucket", type: "text", placeholder: "NAME", help: "bucket for managed tables (required)" },
      {
        name: "storage-type",
        type: "text",
        default: "s3",
        values: ["s3", "gcs", "abs"],
        placeholder: "TYPE",
        help: "s3, gcs or abs",
      },
    ],
    load: async () => (await import("../install/quickstart.ts")).runQuickstart,
  },
  {
    words: ["uninstall"],
    summary: "Uninstall the operator; refuses while instances or engines exist",
    about:
      "Lists what will be deleted and asks for confirmation. Objects that this release does not watch, or that another operator watches as well, are never touched. With -n only the objects of one namespace are deleted, and the operator stays while it watches others.",
    flags: [
      OPERATOR_NAMESPACE,
      {
        name: "release",
        type: "text",
        default: "firebolt-operator",
        placeholder: "NAME",
        help: "Helm release of the operator",
      },
      {
        name: "delete-resources",
        type: "switch",
        help: "first delete the engines, instances and classes that it watches, or those of -n",
      },
      { name: "crds", type: "switch", help: "remove the custom resource definitions too" },
      { name: "yes", short: "y", type: "switch", help: "do not ask for confirmation; required without a terminal" },
      TIMEOUT,
    ],
    examples: [
      ["the objects of one namespace", "kubectl firebolt uninstall -n team-a --delete-resources"],
      ["everything, in a script", "kubectl firebolt uninstall --delete-resources --crds --yes"],
    ],
    load: async () => (await import("../install/uninstall.ts")).runUninstall,
  },
  {
    words: ["completion"],
    summary: "Print a shell completion script for bash, zsh or fish, or for kubectl's own completion",
    arguments: [{ name: "shell", kind: "shell" }],
    load: async () => (await import("../command-line/completion.ts")).printCompletion,
  },
  {
    words: ["version"],
    summary: "Print the versions of this plugin, of the operator and of the custom resource definitions",
    about:
      "A cluster that cannot be reached is a warning: the plugin's own version is printed, and the exit code is 0.",
    flags: [
      { name: "client", type: "switch", help: "the plugin's own version only; no cluster is contacted" },
      TREE_OUTPUT,
    ],
    load: async () => (await import("../install/print-version.ts")).printVersion,
  },
  {
    words: ["__complete"],
    summary: "Return completions to a shell completion script",
    hidden: true,
    arguments: [{ name: "word", optional: true, many: true }],
    load: async () => (await import("../command-line/completion.ts")).complete,
  },
];
