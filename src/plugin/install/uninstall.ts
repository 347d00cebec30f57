// `uninstall`: engines, then instances, then classes, then the operator; the definitions only on purpose, because every object goes
// with them. Refuses while there are objects, unless told otherwise.
import { setTimeout as sleep } from "node:timers/promises";
import { FireboltEngine } from "../../api/engine.ts";
import { FireboltEngineClass } from "../../api/engine-class.ts";
import { FireboltInstance } from "../../api/instance.ts";
import { isNotFound } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/object.ts";
import { defineResource, type ResourceType } from "../../kube/resource.ts";
import type { Cluster } from "../cluster.ts";
import type { CommandContext, Run } from "../command.ts";
import { CommandError, EXIT } from "../exit-codes.ts";
import { listObjects, nameOf, namespaceOf } from "../find-object.ts";
import { commandsText, globalArgs, secondsText } from "../kubectl.ts";
import { spanText } from "../terminal/age.ts";
import { helmCommand, RELEASES, runHelm } from "./helm.ts";

/** Who uses something goes before what it uses. */
const ORDER: readonly ResourceType[] = [FireboltEngine, FireboltInstance, FireboltEngineClass];
const POLL_MS = 500;

const definitions = defineResource({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});

export const runUninstall: Run = async (context) => {
  const { flags, terminal } = context;
  using cluster = await context.connect();
  const left = await countObjects(cluster);
  if (left.length > 0 && !flags.on("delete-resources"))
    throw new CommandError(
      `there are still objects that only the operator can clean up after: ${left.map(({ count, type }) => `${count} ${type.kind}`).join(", ")}\ndelete them first, or use --delete-resources (their data in the cluster goes with them)`,
      EXIT.refused,
    );
  if (flags.on("print-commands")) {
    const kinds = left.map(({ type }) => type);
    terminal.out(commandsText(equivalents(context, kinds)));
    return EXIT.ok;
  }
  const timeoutMs = flags.durationMs("timeout") ?? 0;
  for (const type of ORDER) await deleteAll(context, cluster, { type, timeoutMs });
  await runHelm(
    context,
    helmCommand(context, "remove the operator", "uninstall", RELEASES.operator, "--ignore-not-found", "--wait"),
  );
  terminal.line(`${terminal.style.green("✓")} remove the operator`);
  if (!flags.on("crds")) {
    terminal.line("The custom resource definitions stay: --crds removes them as well.");
    return EXIT.ok;
  }
  await runHelm(
    context,
    helmCommand(context, "remove the release of the definitions", "uninstall", RELEASES.crds, "--ignore-not-found"),
  );
  for (const { plural, group } of [FireboltEngine, FireboltInstance, FireboltEngineClass])
    await deleteDefinition(cluster, `${plural}.${group}`, timeoutMs);
  terminal.line(`${terminal.style.green("✓")} remove the custom resource definitions`);
  return EXIT.ok;
};

/** Kinds that have objects, in the order in which they go. */
async function countObjects(
  cluster: Cluster,
): Promise<readonly { readonly type: ResourceType; readonly count: number }[]> {
  const lists = await Promise.all(ORDER.map(async (type) => ({ type, count: (await existing(cluster, type)).length })));
  return lists.filter(({ count }) => count > 0);
}

/** No definition, no objects. */
async function existing(cluster: Cluster, type: ResourceType): Promise<readonly KubeObject[]> {
  const name = `${type.plural}.${type.group}`;
  if ((await cluster.client.find(definitions, { name }, cluster.call)) === undefined) return [];
  return (await listObjects(cluster, type, { namespace: undefined })).items;
}

interface Deletion {
  readonly type: ResourceType;
  readonly timeoutMs: number;
}

async function deleteAll(
  { terminal, signal }: CommandContext,
  cluster: Cluster,
  { type, timeoutMs }: Deletion,
): Promise<void> {
  const objects = await existing(cluster, type);
  if (objects.length === 0) return;
  for (const object of objects) {
    const key = { namespace: namespaceOf(object), name: nameOf(object) };
    await cluster.client.delete(type, key, cluster.call).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  const deadline = Date.now() + timeoutMs;
  for (let left = objects; left.length > 0; left = await existing(cluster, type)) {
    if (Date.now() > deadline)
      throw new CommandError(
        `${left.length} ${type.kind} are still there after ${spanText(timeoutMs)}: is the operator running?`,
        EXIT.notYet,
      );
    await sleep(POLL_MS, undefined, { signal });
  }
  terminal.line(`${terminal.style.green("✓")} delete ${objects.length} ${type.kind}`);
}

/** Gone only when the API server has taken it out of its own tables. */
async function deleteDefinition({ client, call }: Cluster, name: string, timeoutMs: number): Promise<void> {
  try {
    await client.delete(definitions, { name }, call);
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  const deadline = Date.now() + timeoutMs;
  while ((await client.find(definitions, { name }, call)) !== undefined) {
    if (Date.now() > deadline)
      throw new CommandError(`${name} is still there after ${spanText(timeoutMs)}`, EXIT.notYet);
    await sleep(POLL_MS, undefined, { signal: call.signal });
  }
}

function equivalents(context: CommandContext, kinds: readonly ResourceType[]) {
  const { flags } = context;
  const timeout = `--timeout=${secondsText(flags.durationMs("timeout") ?? 0)}`;
  const deletions = kinds.map(({ plural, group, kind }) => ({
    comment: `delete every ${kind} and wait for it`,
    args: [...globalArgs(flags), "delete", `${plural}.${group}`, "-A", "--all", timeout],
  }));
  const names = ORDER.map(({ plural, group }) => `${plural}.${group}`);
  return [
    ...deletions,
    helmCommand(context, "remove the operator", "uninstall", RELEASES.operator, "--ignore-not-found", "--wait"),
    ...(flags.on("crds")
      ? [
          helmCommand(
            context,
            "remove the release of the definitions",
            "uninstall",
            RELEASES.crds,
            "--ignore-not-found",
          ),
          {
            comment: "remove the definitions",
            args: [...globalArgs(flags), "delete", "crd", ...names, "--ignore-not-found", timeout],
          },
        ]
      : []),
  ];
}
