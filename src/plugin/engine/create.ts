// `engine create`: creates an engine from a few flags and waits until it serves. An existing engine is changed only
// with --overwrite.
import { isAlreadyExists, isForbidden, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { applyManifest } from "../cluster/apply-manifest.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { requireObject } from "../cluster/find-object.ts";
import { commandsText, FIELD_MANAGER, kubectlArgs, quoted, secondsText } from "../cluster/kubectl.ts";
import { describeError } from "../command-line/describe-error.ts";
import { CommandError, EXIT, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { ownCommand } from "../own-command.ts";
import { waitForRest } from "../rollout/follow.ts";
import { dataText } from "../terminal/output.ts";
import { differencesFrom, type FieldDifference } from "./existing-engine.ts";
import { engineManifest, namesBucket } from "./manifest.ts";

const NO_BUCKET =
  "neither --bucket nor the engine's class names a bucket for managed tables: an engine does not start without object storage";

export const createEngine: Run = async (context) => {
  const { args, flags, terminal } = context;
  const [name = ""] = args;
  const instance = flags.text("instance");
  if (instance === "")
    throw new UsageError("engine create needs --instance: the FireboltInstance that the engine belongs to");
  const replicas = flags.integer("replicas") ?? 1;
  if (replicas < 0) throw new UsageError(`--replicas=${replicas}: must not be negative`);
  if (flags.on("print-commands")) return printCreate(context, name, replicas);
  using cluster = await context.connect();
  const { namespace, client, call } = cluster;
  const existing = await client.find(FireboltEngine, { namespace, name }, call);
  const object = manifestOf(context, name, { namespace, replicas });
  const differences = existing === undefined ? [] : differencesFrom(existing.spec, object.spec);
  if (differences.length > 0 && !flags.on("overwrite")) throw alreadyExists(cluster, { name, replicas, differences });
  const engineClass = await checkReferences(cluster, context);
  if (flags.text("bucket") === "" && !namesBucket(engineClass?.spec?.customEngineConfig)) terminal.warn(NO_BUCKET);
  terminal.line(`fireboltengine.compute.firebolt.io/${name} ${await write(context, cluster, { object, existing })}`);
  if (replicas === 0) {
    terminal.line(`fireboltengine/${name} has 0 replicas: it stays stopped, and there is nothing to wait for`);
    return EXIT.ok;
  }
  const describe = ["kubectl", ...kubectlArgs(flags, "describe", "fireboltengine", name)].map(quoted).join(" ");
  await waitForRest(cluster, {
    name,
    timeoutMs: flags.durationMs("timeout") ?? 0,
    terminal,
    hint: `\nsee: ${describe}`,
  });
  terminal.line(`fireboltengine.compute.firebolt.io/${name} condition met`);
  return EXIT.ok;
};

interface Written {
  readonly object: ReturnType<typeof manifestOf>;
  readonly existing: FireboltEngine | undefined;
}

/** With POST: an engine that another client has created in the meantime is not changed either. */
async function write({ flags }: CommandContext, cluster: Cluster, { object, existing }: Written): Promise<string> {
  const { client, call } = cluster;
  const name = object.metadata.name ?? "";
  if (flags.on("overwrite")) {
    const wayOut = "change it with engine scale, stop, start or kubectl";
    const after = await applyManifest(cluster, FireboltEngine, object, { force: true, wayOut });
    if (existing === undefined) return "created";
    return existing.metadata?.resourceVersion === after.metadata?.resourceVersion ? "unchanged" : "configured";
  }
  if (existing !== undefined) return "unchanged";
  try {
    await client.create<KubeObject>(FireboltEngine, object, { ...call, fieldManager: FIELD_MANAGER });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    throw alreadyExists(cluster, { name, replicas: object.spec.replicas, differences: [] });
  }
  return "created";
}

interface Existing {
  readonly name: string;
  readonly replicas: number;
  readonly differences: readonly FieldDifference[];
}

function alreadyExists(cluster: Cluster, { name, replicas, differences }: Existing): CommandError {
  const fields =
    differences.length === 0 ? "" : ` and differs in:${differences.map(({ text }) => `\n  ${text}`).join("")}`;
  const scales = differences.some(({ path }) => path === "spec.replicas");
  const ways = [
    ...(scales
      ? [`change its size with: ${ownCommand(cluster, ["engine", "scale", name, "--replicas", String(replicas)])}`]
      : []),
    "change it with kubectl edit or kubectl apply, or add --overwrite to set these fields",
  ];
  return new CommandError(
    `FireboltEngine ${JSON.stringify(name)} already exists in namespace ${JSON.stringify(cluster.namespace)}${fields}\n${ways.join("\n")}`,
    EXIT.refused,
  );
}

/** Without the check a mistyped name would end in a timeout. Skipped for users who may not read the object. */
async function checkReferences(
  cluster: Cluster,
  { flags, terminal }: CommandContext,
): Promise<FireboltEngineClass | undefined> {
  const lookUp = async <T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T | undefined> => {
    try {
      return name === "" ? undefined : await requireObject(cluster, type, name);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      terminal.warn(`whether ${type.kind} ${JSON.stringify(name)} exists is unknown: ${describeError(error)}`);
      return undefined;
    }
  };
  await lookUp(FireboltInstance, flags.text("instance"));
  return await lookUp(FireboltEngineClass, flags.text("type"));
}

function manifestOf(
  { flags }: CommandContext,
  name: string,
  { namespace, replicas }: { readonly namespace: string | undefined; readonly replicas: number },
) {
  return engineManifest({
    name,
    namespace,
    instance: flags.text("instance"),
    replicas,
    engineClass: flags.text("type"),
    image: flags.text("image"),
    bucket: flags.text("bucket"),
    storageType: flags.text("storage-type"),
    hostPath: flags.text("host-path"),
  });
}

/** Without a namespace: kubectl takes it from `-n` or the context. */
async function printCreate(context: CommandContext, name: string, replicas: number) {
  const { flags, terminal } = context;
  if (flags.text("bucket") === "" && flags.text("type") === "") terminal.warn(NO_BUCKET);
  const stdin = await dataText(manifestOf(context, name, { namespace: undefined, replicas }), "yaml");
  const verb = flags.on("overwrite") ? ["apply", "--server-side", "--force-conflicts"] : ["create"];
  const [first = "", ...rest] = [...verb, `--field-manager=${FIELD_MANAGER}`, "-f", "-"];
  const apply = kubectlArgs(flags, first, ...rest);
  const timeout = `--timeout=${secondsText(flags.durationMs("timeout") ?? 0)}`;
  const wait = kubectlArgs(flags, "wait", "--for=condition=Ready", `fireboltengine/${name}`, timeout);
  terminal.out(
    commandsText([
      { comment: `create the engine ${name}`, args: apply, stdin },
      ...(replicas === 0 ? [] : [{ comment: "wait until it serves", args: wait }]),
    ]),
  );
  return EXIT.ok;
}
