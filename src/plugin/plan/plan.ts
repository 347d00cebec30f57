// `plan -f file`: plans the objects of a file with a dry run of the API server and the operator's own functions.
// Writes nothing.

import type { KubeObject, ResourceType } from "@firebolt-operator/kube";
import { ignoredFields } from "../../admission/validators/ignored-fields.ts";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { API_VERSION } from "../../api/group.ts";
import { parseResourceBounds } from "../../engine/model/validate.ts";
import { validateTemplate } from "../../podtemplate/rules/validate-template.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { commandsText, kubectlArgs } from "../cluster/kubectl.ts";
import { CommandError, EXIT, type ExitCode, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { dataText, isDataFormat } from "../terminal/output.ts";
import { type DryRun, dryRun } from "./dry-run.ts";
import { affectedBy, type PlannedEffect } from "./effect.ts";
import { type Manifest, readManifests } from "./manifest-file.ts";
import { misnamedContainers } from "./misnamed-containers.ts";
import { planInstance } from "./plan-instance.ts";
import { createCluster, type PlanCluster } from "./planned-cluster.ts";
import { planClassEngines, planInstanceEngines, planOneEngine } from "./planned-engines.ts";
import { planText } from "./render-plan.ts";
import { safeViolationText } from "./without-values.ts";

export const runPlan: Run = async (context) => {
  const { flags, terminal } = context;
  const file = flags.text("filename");
  if (file === "") throw new UsageError("plan needs -f FILE: the manifest to plan (- reads standard input)");
  if (flags.on("print-commands")) {
    const side = flags.on("server-side") ? ["--server-side"] : [];
    terminal.out(
      commandsText([
        {
          comment: "what the API server itself would report",
          args: kubectlArgs(flags, "apply", "--dry-run=server", ...side, "-f", file),
        },
      ]),
    );
    return EXIT.ok;
  }
  const manifests = readManifests(file);
  using cluster = await context.connect();
  const { planned, skipped } = await makePlan(context, cluster, manifests);
  const format = flags.text("output");
  if (isDataFormat(format)) terminal.raw(await dataText({ plan: planned, skipped }, format));
  else terminal.out(planText(planned, skipped, terminal.style));
  return exitCode(context, planned);
};

function exitCode({ flags }: CommandContext, planned: readonly PlannedEffect[]): ExitCode {
  const types = affectedBy(planned).map(({ effect }) => effect.type);
  if (types.includes("refused")) return EXIT.refused;
  return flags.on("detailed-exit-code") && types.includes("rolls") ? EXIT.rolls : EXIT.ok;
}

const KINDS = [FireboltInstance, FireboltEngineClass, FireboltEngine] as const;

async function makePlan({ flags }: CommandContext, cluster: Cluster, manifests: readonly Manifest[]) {
  const world = createCluster(
    cluster,
    boundsOf(flags.text("engine-max-cpu"), flags.text("engine-max-memory"), flags.text("engine-max-ephemeral-storage")),
  );
  const isOurs = ({ apiVersion, kind }: Manifest): boolean =>
    apiVersion === API_VERSION && KINDS.some((type) => type.kind === kind);
  const skipped = manifests
    .filter((manifest) => !isOurs(manifest))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const planned: PlannedEffect[] = [];
  // Referenced objects first, whatever the order of the file: the operator waits for them anyway.
  for (const type of KINDS)
    for (const manifest of manifests.filter((one) => isOurs(one) && one.kind === type.kind)) {
      const namespace = namespaceFor(manifest, cluster, flags.text("namespace"));
      const tryOut = <T extends KubeObject>(of: ResourceType<T>, what: Manifest): Promise<DryRun<T>> =>
        dryRun(cluster, of, { manifest: what, namespace, serverSide: flags.on("server-side") });
      planned.push(await planObject({ world, manifest, namespace, tryOut }));
    }
  return { planned, skipped };
}

interface ObjectToPlan {
  readonly world: PlanCluster;
  readonly manifest: Manifest;
  readonly namespace: string;
  readonly tryOut: <T extends KubeObject>(type: ResourceType<T>, manifest: Manifest) => Promise<DryRun<T>>;
}

async function planObject({ world, manifest, namespace, tryOut }: ObjectToPlan): Promise<PlannedEffect> {
  const { kind, metadata } = manifest;
  const about = { kind, namespace, name: metadata.name };
  const rejected = (result: { readonly problems: readonly string[] }): PlannedEffect => ({
    ...about,
    effect: { type: "refused", by: "API server", problems: result.problems },
    consequences: [],
    warnings: [],
  });
  switch (kind) {
    case FireboltInstance.kind: {
      const result = await tryOut(FireboltInstance, manifest);
      if (result.type === "refused") return rejected(result);
      const effect = planInstance(result.live, result.object);
      const consequences =
        result.live === undefined || effect.type === "refused"
          ? []
          : await planInstanceEngines(world, result.object, result.live);
      world.replaceInstance(result.object);
      const { metadata: meta, gateway } = result.object.spec;
      const warnings = [
        ...warningsOf("metadata", meta.template, "spec.metadata.template"),
        ...warningsOf("gateway", gateway.template, "spec.gateway.template"),
      ];
      return { ...about, effect, consequences, warnings };
    }
    case FireboltEngineClass.kind: {
      const result = await tryOut(FireboltEngineClass, manifest);
      if (result.type === "refused") return rejected(result);
      const { spec } = result.object;
      const problems = validateTemplate("engine", spec?.template, "spec.template").map(safeViolationText);
      const warnings = warningsOf("engine", spec?.template, "spec.template");
      if (problems.length > 0)
        return { ...about, effect: { type: "refused", by: "operator", problems }, consequences: [], warnings };
      const consequences = await planClassEngines(world, result.object, result.live);
      world.replaceClass(result.object);
      return {
        ...about,
        effect: result.live === undefined ? { type: "creates", what: "a class" } : { type: "nothing" },
        consequences,
        warnings,
      };
    }
    default: {
      const result = await dryRunEngine({ world, manifest, namespace, tryOut });
      if (result.type === "refused") return rejected(result);
      const warnings = warningsOf("engine", result.object.spec?.template, "spec.template");
      return { ...about, effect: await planOneEngine(world, result.object, result.live), consequences: [], warnings };
    }
  }
}

const warningsOf = (...template: Parameters<typeof ignoredFields>): readonly string[] => [
  ...ignoredFields(...template),
  ...misnamedContainers(...template),
];

/** A webhook does not see a class of the same file, so the dry run leaves the reference out. */
async function dryRunEngine({ world, manifest, namespace, tryOut }: ObjectToPlan): Promise<DryRun<FireboltEngine>> {
  const result = await tryOut(FireboltEngine, manifest);
  const spec = manifest["spec"];
  const classRef = typeof spec === "object" && spec !== null ? Reflect.get(spec, "engineClassRef") : undefined;
  const isAboutClass = result.type === "refused" && /spec\.engineClassRef: Not found/.test(result.problems.join(" "));
  if (!isAboutClass || typeof classRef !== "string" || !world.plansClass(namespace, classRef)) return result;
  const without = await tryOut(FireboltEngine, { ...manifest, spec: { ...Object(spec), engineClassRef: undefined } });
  if (without.type === "refused" || without.object.spec === undefined) return without;
  return { ...without, object: { ...without.object, spec: { ...without.object.spec, engineClassRef: classRef } } };
}

function namespaceFor({ kind, metadata }: Manifest, { namespace }: Cluster, requested: string): string {
  const own = metadata["namespace"];
  if (typeof own !== "string" || own === "") return namespace;
  if (requested !== "" && requested !== own)
    throw new CommandError(
      `${kind} ${metadata.name} has namespace ${JSON.stringify(own)}, but -n is ${JSON.stringify(requested)}`,
      EXIT.usage,
    );
  return own;
}

function boundsOf(cpu: string, memory: string, storage: string) {
  const { bounds, malformed } = parseResourceBounds({ cpu, memory, "ephemeral-storage": storage });
  if (malformed.length > 0)
    throw new UsageError(`--engine-max-${malformed[0]}: must be a quantity such as 500m or 4Gi`);
  return bounds;
}
