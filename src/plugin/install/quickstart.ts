// `quickstart`: from an empty cluster to an engine that serves, in steps that are skipped if they are done already.
import { defineResource, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { API_VERSION } from "../../api/group.ts";
import { applyManifest } from "../cluster/apply-manifest.ts";
import { changes } from "../cluster/changes.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { startDeadline } from "../cluster/deadline.ts";
import { commandsText, FIELD_MANAGER, globalArgs, type KubectlCommand, secondsText } from "../cluster/kubectl.ts";
import { CommandError, EXIT, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { engineManifest } from "../engine/manifest.ts";
import { ownCommand } from "../own-command.ts";
import { waitForRest } from "../rollout/follow.ts";
import { explainInstance } from "../status/explain.ts";
import { spanText } from "../terminal/age.ts";
import { dataText } from "../terminal/output.ts";
import { install, installCommands } from "./install.ts";

const POLL_MS = 2_000;
const namespaces = defineResource({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});

export const runQuickstart: Run = async (context) => {
  const { flags, terminal } = context;
  if (flags.text("bucket") === "")
    throw new UsageError("an engine does not start without object storage: name a bucket with --bucket");
  const helm = flags.on("skip-install") ? [] : installCommands(context);
  const namespace = flags.text("namespace") || "firebolt";
  const objects = manifests(context, namespace);
  if (flags.on("print-commands")) {
    const steps = await Promise.all(objects.map((step) => stepCommands(context, namespace, step)));
    terminal.out(commandsText([...helm, ...steps.flat()]));
    return EXIT.ok;
  }
  await install(context, helm);
  using opened = await context.connect();
  const cluster: Cluster = { ...opened, namespace };
  for (const { type, manifest, what, ready } of objects) {
    await applyManifest(cluster, type, manifest, { wayOut: "name others with -n, --instance and --engine" });
    await ready?.(context, cluster);
    terminal.line(`${terminal.style.green("✓")} ${what}`);
  }
  terminal.line(`\nRun a query:\n  ${ownCommand(cluster, ["engine", "query", flags.text("engine"), "SELECT 42"])}`);
  return EXIT.ok;
};

interface Step {
  readonly type: ResourceType;
  readonly manifest: KubeObject;
  readonly what: string;
  readonly ready?: (context: CommandContext, cluster: Cluster) => Promise<unknown>;
  /** The same for kubectl wait. */
  readonly condition?: string;
}

async function stepCommands(
  { flags }: CommandContext,
  namespace: string,
  { manifest, what, condition }: Step,
): Promise<readonly KubectlCommand[]> {
  const { kind, metadata } = manifest;
  const [global, timeout] = [globalArgs(flags), `--timeout=${secondsText(flags.durationMs("timeout") ?? 0)}`];
  const apply: KubectlCommand = {
    comment: `apply ${kind} ${metadata?.name}`,
    args: [...global, "apply", "--server-side", `--field-manager=${FIELD_MANAGER}`, "-f", "-"],
    stdin: await dataText(manifest, "yaml"),
  };
  if (condition === undefined) return [apply];
  const target = `${kind?.toLowerCase()}/${metadata?.name}`;
  const wait = [...global, "wait", "-n", namespace, `--for=${condition}`, target, timeout];
  return [apply, { comment: `wait until ${what}`, args: wait }];
}

function manifests({ flags }: CommandContext, namespace: string): readonly Step[] {
  const [instance, engine] = [flags.text("instance"), flags.text("engine")];
  const instanceManifest = {
    apiVersion: API_VERSION,
    kind: FireboltInstance.kind,
    metadata: { name: instance, namespace },
    spec: { metadata: {}, gateway: {} },
  };
  const options = { name: engine, namespace, instance, replicas: 1, engineClass: "", image: "", hostPath: "" };
  return [
    {
      type: namespaces,
      manifest: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      what: `namespace ${namespace}`,
    },
    {
      type: FireboltInstance,
      manifest: instanceManifest,
      what: `instance ${instance} is Ready`,
      ready: (context, cluster) => untilInstanceReady(context, cluster, instance),
      condition: "jsonpath={.status.phase}=Ready",
    },
    {
      type: FireboltEngine,
      manifest: engineManifest({ ...options, bucket: flags.text("bucket"), storageType: flags.text("storage-type") }),
      what: `engine ${engine} serves`,
      ready: ({ terminal, flags: given }, cluster) =>
        waitForRest(cluster, { name: engine, timeoutMs: given.durationMs("timeout") ?? 0, terminal }),
      condition: "condition=Ready",
    },
  ];
}

async function untilInstanceReady({ flags, signal }: CommandContext, cluster: Cluster, name: string): Promise<void> {
  const { namespace, client, call } = cluster;
  const timeoutMs = flags.durationMs("timeout") ?? 0;
  using limited = startDeadline(signal, timeoutMs);
  let why = "its status was never read";
  const kinds = [{ type: FireboltInstance, scope: { namespace } }];
  for await (const _ of changes(cluster, { kinds, everyMs: POLL_MS, signal: limited.signal })) {
    const instance = await client.get(FireboltInstance, { namespace, name }, call);
    if (instance.status?.phase === "Ready") return;
    why = explainInstance({ instance, pods: [], nowMs: cluster.clock.now() })?.why ?? why;
  }
  if (signal.aborted) throw signal.reason;
  throw new CommandError(
    `timed out after ${spanText(timeoutMs)} waiting for FireboltInstance ${JSON.stringify(name)} to become ready: ${why}`,
    EXIT.notYet,
  );
}
