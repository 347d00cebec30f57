// `engine create`: applies a small manifest and waits until the engine serves.
import { FireboltEngine } from "../../api/engine.ts";
import { FireboltEngineClass } from "../../api/engine-class.ts";
import { applyManifest } from "../apply-manifest.ts";
import type { Cluster } from "../cluster.ts";
import type { CommandContext, Run } from "../command.ts";
import { EXIT, UsageError } from "../exit-codes.ts";
import { commandsText, FIELD_MANAGER, kubectlArgs, quoted, secondsText } from "../kubectl.ts";
import { dataText } from "../output.ts";
import { waitForRest } from "../rollout/follow.ts";
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
  if (flags.text("bucket") === "" && !(await classNamesBucket(cluster, flags.text("type")))) terminal.warn(NO_BUCKET);
  const object = manifestOf(context, name, { namespace: cluster.namespace, replicas });
  const { namespace, client, call } = cluster;
  const before = await client.find(FireboltEngine, { namespace, name }, call);
  const after = await applyManifest(cluster, FireboltEngine, object, {
    force: flags.on("overwrite"),
    wayOut: "change it with engine scale, stop, start or kubectl; --overwrite takes the fields over",
  });
  const outcome =
    before === undefined
      ? "created"
      : before.metadata?.resourceVersion === after.metadata?.resourceVersion
        ? "unchanged"
        : "configured";
  terminal.line(`fireboltengine.compute.firebolt.io/${name} ${outcome}`);
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

async function classNamesBucket({ client, namespace, call }: Cluster, name: string): Promise<boolean> {
  if (name === "") return false;
  const found = await client.find(FireboltEngineClass, { namespace, name }, call);
  return namesBucket(found?.spec?.customEngineConfig);
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

/** The namespace is kubectl's business here: `-n`, or that of the context. */
async function printCreate(context: CommandContext, name: string, replicas: number) {
  const { flags, terminal } = context;
  if (flags.text("bucket") === "" && flags.text("type") === "") terminal.warn(NO_BUCKET);
  const stdin = await dataText(manifestOf(context, name, { namespace: undefined, replicas }), "yaml");
  const apply = kubectlArgs(
    flags,
    "apply",
    "--server-side",
    ...(flags.on("overwrite") ? ["--force-conflicts"] : []),
    `--field-manager=${FIELD_MANAGER}`,
    "-f",
    "-",
  );
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
