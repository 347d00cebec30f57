// `uninstall`: deletes engines, then instances, classes and the operator; the CRDs only on request, because all
// objects are deleted with them. Lists what will be deleted and asks for confirmation; fails while objects exist,
// unless --delete-resources is set.
import { setTimeout as sleep } from "node:timers/promises";
import { defineResource, isConflict, isNotFound, type ResourceType } from "@firebolt-operator/kube";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import { commandsText, globalArgs, secondsText } from "../cluster/kubectl.ts";
import { CommandError, EXIT, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { spanText } from "../terminal/age.ts";
import { confirm } from "../terminal/confirm.ts";
import { helmCommand, RELEASES, runHelm } from "./helm.ts";
import { findOperators } from "./operators.ts";
import { countText, type Found, planRemoval, type Removal, type RemovalOptions, removalText } from "./removal.ts";

/** Users before what they use: engines before instances and classes. */
const ORDER: readonly ResourceType[] = [FireboltEngine, FireboltInstance, FireboltEngineClass];
const POLL_MS = 500;

const definitions = defineResource({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});

type Removes = Extract<Removal, { type: "removes" }>;

export const runUninstall: Run = async (context) => {
  const { flags, terminal } = context;
  const options = optionsOf(context);
  using cluster = await context.connect();
  const removal = await decide(context, cluster, options);
  if (flags.on("print-commands")) {
    terminal.out(commandsText(equivalents(context, removal)));
    return EXIT.ok;
  }
  terminal.out(removalText(removal, options));
  if (removal.objects.length === 0 && !removal.operator && !removal.definitions) return EXIT.ok;
  await confirm(context);
  const timeoutMs = flags.durationMs("timeout") ?? 0;
  for (const type of ORDER) await deleteAll(context, cluster, { found: ofType(removal.objects, type), timeoutMs });
  if (!removal.operator) return EXIT.ok;
  await stillEmpty(context, cluster, options);
  await runHelm(context, removeOperator(context));
  terminal.line(`${terminal.style.green("✓")} remove the operator`);
  if (!removal.definitions) {
    terminal.line("The custom resource definitions are kept; --crds removes them too.");
    return EXIT.ok;
  }
  await runHelm(context, removeDefinitions(context));
  for (const { plural, group } of ORDER) await deleteDefinition(cluster, `${plural}.${group}`, timeoutMs);
  terminal.line(`${terminal.style.green("✓")} remove the custom resource definitions`);
  return EXIT.ok;
};

function optionsOf({ flags }: CommandContext): RemovalOptions {
  const namespace = flags.text("namespace");
  const [deleteResources, crds] = [flags.on("delete-resources"), flags.on("crds")];
  if (namespace !== "" && !deleteResources)
    throw new UsageError(
      `-n ${namespace} limits --delete-resources, which was not given; use --operator-namespace for the namespace of the operator itself`,
    );
  if (namespace !== "" && crds)
    throw new UsageError(
      `-n ${namespace} and --crds contradict each other: deleting the custom resource definitions deletes the objects of all namespaces`,
    );
  return {
    release: flags.text("release"),
    operatorNamespace: flags.text("operator-namespace"),
    namespace: namespace === "" ? undefined : namespace,
    deleteResources,
    crds,
  };
}

async function decide({ terminal }: CommandContext, cluster: Cluster, options: RemovalOptions): Promise<Removes> {
  const { operatorNamespace, release, crds } = options;
  const operators = await findOperators(cluster, operatorNamespace, (text) => terminal.warn(text));
  const own = operators.find((one) => one.namespace === operatorNamespace && one.release === release);
  // A release for some namespaces needs no permissions elsewhere, except to delete the CRDs.
  const namespaces = crds || own === undefined ? [] : own.watch.namespaces;
  const removal = planRemoval(options, { operators, objects: await existing(cluster, namespaces) });
  if (removal.type === "refused") throw new CommandError(removal.message, EXIT.refused);
  return removal;
}

/** In this order. Without a CRD there are no objects. */
async function existing({ client, call }: Cluster, namespaces: readonly string[]): Promise<readonly Found[]> {
  const scopes = namespaces.length === 0 ? [{}] : namespaces.map((namespace) => ({ namespace }));
  const found: Found[] = [];
  for (const type of ORDER)
    for (const scope of scopes)
      try {
        const { items } = await client.listAll(type, { ...call, ...scope });
        found.push(...items.map((object) => ({ type, object })));
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
  return found;
}

const ofType = (found: readonly Found[], type: ResourceType): readonly Found[] =>
  found.filter((one) => one.type === type);

/** An object may have been created since the confirmation: without the operator its finalizer would stay forever. */
async function stillEmpty(context: CommandContext, cluster: Cluster, options: RemovalOptions): Promise<void> {
  const { objects, left } = await decide(context, cluster, { ...options, deleteResources: true });
  const news = [...objects, ...left];
  if (news.length > 0)
    throw new CommandError(
      `the operator was not removed: new objects were created (${countText(news)}). Run the command again`,
      EXIT.refused,
    );
}

interface Deletion {
  readonly found: readonly Found[];
  readonly timeoutMs: number;
}

/** By uid: an object that was recreated under the same name is not deleted. */
async function deleteAll(
  { terminal, signal }: CommandContext,
  { client, call, clock }: Cluster,
  { found, timeoutMs }: Deletion,
): Promise<void> {
  if (found.length === 0) return;
  const keyOf = ({ object }: Found) => ({ namespace: namespaceOf(object), name: nameOf(object) });
  for (const one of found) {
    const { uid } = one.object.metadata ?? {};
    const options = uid === undefined ? call : { ...call, uid };
    await client.delete(one.type, keyOf(one), options).catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    });
  }
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  const isThere = async (one: Found): Promise<boolean> => {
    const now = await client.find(one.type, keyOf(one), call);
    return now !== undefined && now.metadata?.uid === one.object.metadata?.uid;
  };
  let left = found;
  while (left.length > 0) {
    const checked = await Promise.all(left.map(async (one) => ({ one, there: await isThere(one) })));
    left = checked.filter(({ there }) => there).map(({ one }) => one);
    if (left.length === 0) break;
    if (clock.monotonicMs() > deadlineMs)
      throw new CommandError(
        `still being deleted after ${spanText(timeoutMs)}: ${countText(left)}. The operator has not been removed: is it running?`,
        EXIT.notYet,
      );
    await sleep(POLL_MS, undefined, { signal });
  }
  terminal.line(`${terminal.style.green("✓")} delete ${countText(found)}`);
}

/** Done when the API server no longer serves the kind. */
async function deleteDefinition({ client, call, clock }: Cluster, name: string, timeoutMs: number): Promise<void> {
  try {
    await client.delete(definitions, { name }, call);
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  while ((await client.find(definitions, { name }, call)) !== undefined) {
    if (clock.monotonicMs() > deadlineMs)
      throw new CommandError(`${name} still exists after ${spanText(timeoutMs)}`, EXIT.notYet);
    await sleep(POLL_MS, undefined, { signal: call.signal });
  }
}

const removeOperator = (context: CommandContext) =>
  helmCommand(
    context,
    "remove the operator",
    "uninstall",
    context.flags.text("release"),
    "--ignore-not-found",
    "--wait",
  );
const removeDefinitions = (context: CommandContext) =>
  helmCommand(context, "remove the release of the definitions", "uninstall", RELEASES.crds, "--ignore-not-found");

/** By name: `--all` would also delete objects that are created later and were never listed. */
function equivalents(context: CommandContext, { objects, operator, definitions: crds }: Removes) {
  const { flags } = context;
  const timeout = `--timeout=${secondsText(flags.durationMs("timeout") ?? 0)}`;
  const deletions = ORDER.flatMap((type) => {
    const found = ofType(objects, type);
    return [...new Set(found.map(({ object }) => namespaceOf(object)))].map((namespace) => {
      const names = found.filter(({ object }) => namespaceOf(object) === namespace).map(({ object }) => nameOf(object));
      const target = `${type.plural}.${type.group}`;
      return {
        comment: `delete ${names.length} ${type.kind} in ${namespace} and wait for it`,
        args: [...globalArgs(flags), "delete", "-n", namespace, target, ...names, "--ignore-not-found", timeout],
      };
    });
  });
  const names = ORDER.map(({ plural, group }) => `${plural}.${group}`);
  return [
    ...deletions,
    ...(operator ? [removeOperator(context)] : []),
    ...(crds
      ? [
          removeDefinitions(context),
          {
            comment: "remove the definitions",
            args: [...globalArgs(flags), "delete", "crd", ...names, "--ignore-not-found", timeout],
          },
        ]
      : []),
  ];
}
