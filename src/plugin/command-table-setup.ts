// The commands that are needed once: installing, removing, completing.
import type { Command } from "./command.ts";
import type { Flag } from "./flags.ts";

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
    summary: "Install or upgrade the operator with Helm: definitions first, then the operator",
    flags: INSTALL,
    load: async () => (await import("./install/install.ts")).runInstall,
  },
  {
    words: ["quickstart"],
    summary: "Install everything and bring up a first instance and engine",
    about:
      "In namespace firebolt, or that of -n. Fields of an instance or engine of that name that others have set are not changed.",
    flags: [
      ...INSTALL,
      { name: "skip-install", type: "switch", help: "the operator is there already" },
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
    load: async () => (await import("./install/quickstart.ts")).runQuickstart,
  },
  {
    words: ["uninstall"],
    summary: "Remove the operator; refuses while there are instances or engines",
    about:
      "Lists what goes and asks first. Only what this release watches is touched, and nothing that another operator watches as well.\nWith -n only the objects of one namespace are deleted, and the operator stays as long as it has others.",
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
        help: "delete the engines, instances and classes that it watches first, or those of -n",
      },
      { name: "crds", type: "switch", help: "remove the custom resource definitions too" },
      { name: "yes", short: "y", type: "switch", help: "do not ask; needed where there is no terminal" },
      TIMEOUT,
    ],
    examples: [
      ["the objects of one namespace", "kubectl firebolt uninstall -n team-a --delete-resources"],
      ["everything, in a script", "kubectl firebolt uninstall --delete-resources --crds --yes"],
    ],
    load: async () => (await import("./install/uninstall.ts")).runUninstall,
  },
  {
    words: ["completion"],
    summary: "Print a completion script: bash, zsh, fish, or kubectl for kubectl's own",
    arguments: [{ name: "shell", kind: "shell" }],
    load: async () => (await import("./completion.ts")).printCompletion,
  },
  {
    words: ["version"],
    summary: "Print the version",
    load: async () => (await import("./print-version.ts")).printVersion,
  },
  {
    words: ["__complete"],
    summary: "Answer a completion script",
    hidden: true,
    arguments: [{ name: "word", optional: true, many: true }],
    load: async () => (await import("./completion.ts")).complete,
  },
];
