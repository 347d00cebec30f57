// `class show <class>`: the engines that use a class, and the configuration that results for one of them.
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import { resolveEngine } from "../../engine/resolve/effective-engine.ts";
import { findSecretAliases } from "../../engine/resolve/secret-alias.ts";
import { protectedSecrets } from "../../podtemplate/secrets/protected-secrets.ts";
import { redactEngineTemplate } from "../bundle/redact.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects, nameOf, requireObject } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs } from "../cluster/kubectl.ts";
import { CommandError, EXIT } from "../command-line/exit-codes.ts";
import type { Run } from "../commands/command.ts";
import { readyText } from "../status/lists.ts";
import { dataText, isDataFormat } from "../terminal/output.ts";

export const showClass: Run = async (context) => {
  const { args, flags, terminal } = context;
  const [name = ""] = args;
  if (flags.on("print-commands")) {
    terminal.out(
      commandsText([
        {
          comment: "the class as it is stored",
          args: kubectlArgs(flags, "get", "fireboltengineclass", name, "-o", "yaml"),
        },
        { comment: "the engines that may use it", args: kubectlArgs(flags, "get", "fireboltengine", "-o", "json") },
      ]),
    );
    return EXIT.ok;
  }
  using cluster = await context.connect();
  const found = await requireObject(cluster, FireboltEngineClass, name);
  const { items } = await listObjects(cluster, FireboltEngine, { namespace: cluster.namespace });
  const bound = items
    .filter(({ spec }) => spec?.engineClassRef === name)
    .sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const chosen = chooseEngine(bound, flags.text("engine"), name);
  const effective =
    chosen === undefined ? undefined : await effectiveOf(cluster, { engine: chosen, engineClass: found });
  const format = flags.text("output");
  if (isDataFormat(format)) {
    const engines = bound.map(nameOf);
    terminal.raw(
      await dataText(
        { class: found, engines, ...(effective === undefined ? {} : { engine: nameOf(chosen ?? {}), effective }) },
        format,
      ),
    );
    return EXIT.ok;
  }
  const { style } = terminal;
  terminal.line(`${"Class:".padEnd(10)} ${cluster.namespace}/${name}`);
  terminal.line(`${"Ready:".padEnd(10)} ${readyText(found) || "-"}`);
  terminal.line(`${"Engines:".padEnd(10)} ${bound.map(nameOf).join(", ") || "none"}`);
  if (effective === undefined || chosen === undefined) {
    terminal.line(
      `\n${style.dim(bound.length > 1 ? "Show the effective settings of one engine: --engine NAME" : "No engine uses this class.")}`,
    );
    return EXIT.ok;
  }
  terminal.line(`\n${style.bold(`Effective settings of ${nameOf(chosen)} (operator default < class < engine):`)}`);
  terminal.raw(await dataText(effective, "yaml"));
  return EXIT.ok;
};

/** As its pods would be: without volumes that reach a Secret of the operator, if the instance is known. */
async function effectiveOf(
  { client, namespace, call }: Cluster,
  layers: { readonly engine: FireboltEngine; readonly engineClass: FireboltEngineClass },
) {
  const name = layers.engine.spec?.instanceRef ?? "";
  const instance = name === "" ? undefined : await client.find(FireboltInstance, { namespace, name }, call);
  const aliases = instance === undefined ? [] : findSecretAliases(layers, protectedSecrets(instance));
  const leftOut = new Set(aliases.map(({ volume }) => volume));
  return redactEngineTemplate(resolveEngine({ ...layers, defaults: OPERATOR_DEFAULTS, leftOut }));
}

/** The named one, or the only one. */
function chooseEngine(bound: readonly FireboltEngine[], wanted: string, name: string): FireboltEngine | undefined {
  if (wanted === "") return bound.length === 1 ? bound[0] : undefined;
  const chosen = bound.find((engine) => nameOf(engine) === wanted);
  if (chosen !== undefined) return chosen;
  const users = bound.length === 0 ? "no engine does" : `engines that do: ${bound.map(nameOf).join(", ")}`;
  throw new CommandError(
    `FireboltEngine ${JSON.stringify(wanted)} does not use class ${JSON.stringify(name)}; ${users}`,
    EXIT.notFound,
  );
}
