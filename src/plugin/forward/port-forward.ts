// `instance port-forward` and `engine port-forward`: a local address until Ctrl+C.
import { untilAborted } from "@firebolt-operator/kube";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { routingServiceName } from "../../engine/model/names.ts";
import { QUERY_PORT } from "../../engine/model/pod-contract.ts";
import { gatewayName } from "../../instance/model/names.ts";
import { nameOf, requireObject, requireOne } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs } from "../cluster/kubectl.ts";
import { CommandError, EXIT, type ExitCode, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { ownCommand } from "../own-command.ts";
import { openForwarding } from "./forwarding.ts";
import { addressText, engineScheme, gatewayScheme, type Scheme } from "./scheme.ts";

export const GATEWAY_SERVICE_PORT = 80;

export const forwardInstance: Run = async (context) => {
  const { args, flags } = context;
  if (flags.on("print-commands")) {
    if (args[0] === undefined)
      throw new UsageError("--print-commands does not read the cluster: pass the name of the instance");
    return print(context, forwardArgs(context, gatewayName(args[0]), GATEWAY_SERVICE_PORT));
  }
  using cluster = await context.connect();
  const instance = await requireOne(cluster, FireboltInstance, args[0]);
  const forward = forwardArgs(context, gatewayName(nameOf(instance)), GATEWAY_SERVICE_PORT);
  return await serve(context, forward, gatewayScheme(instance));
};

export const forwardEngine: Run = async (context) => {
  const [name = ""] = context.args;
  const forward = forwardArgs(context, routingServiceName(name), QUERY_PORT);
  if (context.flags.on("print-commands")) return print(context, forward);
  using cluster = await context.connect();
  const engine = await requireObject(cluster, FireboltEngine, name);
  const instanceName = engine.spec?.instanceRef ?? "";
  const instance = await cluster.client.find(
    FireboltInstance,
    { namespace: cluster.namespace, name: instanceName },
    cluster.call,
  );
  if ((engine.spec?.replicas ?? 0) === 0)
    throw new CommandError(
      `FireboltEngine ${JSON.stringify(name)} is stopped; start it with: ${ownCommand(cluster, ["engine", "start", name])}`,
      EXIT.notYet,
    );
  return await serve(context, forward, engineScheme(instance));
};

export function forwardArgs({ flags }: CommandContext, service: string, port: number): readonly string[] {
  const local = flags.integer("local-port") ?? 0;
  if (local < 0 || local > 65_535) throw new UsageError(`--local-port=${local}: must be from 0 to 65535`);
  return kubectlArgs(flags, "port-forward", `svc/${service}`, `${local === 0 ? "" : local}:${port}`);
}

function print({ terminal }: CommandContext, args: readonly string[]): ExitCode {
  terminal.out(commandsText([{ comment: "forward a local port", args }]));
  return EXIT.ok;
}

async function serve(context: CommandContext, args: readonly string[], scheme: Scheme): Promise<ExitCode> {
  const { terminal, env, signal } = context;
  await using forwarding = await openForwarding({ args, env, signal });
  terminal.line(`Forwarding on ${addressText(scheme, forwarding.port)}`);
  terminal.line("Ctrl+C to stop.");
  try {
    throw new CommandError(await untilAborted(forwarding.ended, signal));
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    throw error;
  }
}
