// `version`: of the plugin, of the operator and of the custom resource definitions in the cluster. A cluster that
// cannot be reached is a warning, not a failure.
import { defineResource, isForbidden, type KubeObject } from "@firebolt-operator/kube";
import type { V1Deployment } from "../../api/generated/kubernetes.ts";
import { ENGINE_CLASS_NAMES, ENGINE_NAMES, GROUP, INSTANCE_NAMES } from "../../api/group.ts";
import { VERSION } from "../../command-line/version.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs } from "../cluster/kubectl.ts";
import { describeError } from "../command-line/describe-error.ts";
import { EXIT } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { dataText, isDataFormat } from "../terminal/output.ts";
import { managerOf, operatorDeployments } from "./operators.ts";

interface Definition extends KubeObject {
  readonly spec?: { readonly versions?: readonly { readonly name: string; readonly served?: boolean }[] };
}

const definitions = defineResource<Definition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});
const NAMES = [ENGINE_CLASS_NAMES, ENGINE_NAMES, INSTANCE_NAMES].map(({ plural }) => `${plural}.${GROUP}`);

interface OperatorVersion {
  readonly deployment: string;
  readonly version: string;
  readonly image: string;
  readonly ready: number;
  readonly replicas: number;
}

interface DefinitionVersion {
  readonly name: string;
  /** Empty: it is not installed. */
  readonly served: readonly string[];
}

/** Undefined: the user may not read it. */
interface ServerVersions {
  readonly operators: readonly OperatorVersion[] | undefined;
  readonly definitions: readonly DefinitionVersion[] | undefined;
}

export const printVersion: Run = async (context) => {
  const { flags, terminal } = context;
  const format = flags.text("output");
  if (flags.on("print-commands")) {
    terminal.out(commandsText(equivalents(context)));
    return EXIT.ok;
  }
  const server = flags.on("client") ? undefined : await serverVersions(context);
  if (isDataFormat(format)) terminal.raw(await dataText({ client: VERSION, ...server }, format));
  else if (flags.on("client")) terminal.line(VERSION);
  else terminal.out([`client:    ${VERSION}\n`, ...(server === undefined ? [] : serverLines(server))].join(""));
  return EXIT.ok;
};

async function serverVersions(context: CommandContext): Promise<ServerVersions | undefined> {
  try {
    using cluster = await context.connect();
    const [operators, found] = await Promise.all([
      allowed(async () => (await operatorDeployments(cluster)).map(operatorVersion)),
      allowed(() => Promise.all(NAMES.map((name) => definitionVersion(cluster, name)))),
    ]);
    return { operators, definitions: found };
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.terminal.warn(`the versions in the cluster are unknown: ${describeError(error)}`);
    return undefined;
  }
}

function operatorVersion(deployment: V1Deployment): OperatorVersion {
  const { metadata, spec, status } = deployment;
  const image = managerOf(deployment)?.image ?? "";
  return {
    deployment: `${namespaceOf(deployment)}/${nameOf(deployment)}`,
    version: metadata?.labels?.["app.kubernetes.io/version"] ?? image.split(":").at(-1) ?? "",
    image,
    ready: status?.readyReplicas ?? 0,
    replicas: spec?.replicas ?? 1,
  };
}

async function definitionVersion({ client, call }: Cluster, name: string): Promise<DefinitionVersion> {
  const found = await client.find(definitions, { name }, call);
  const served = (found?.spec?.versions ?? []).filter((one) => one.served === true).map((one) => one.name);
  return { name, served };
}

function serverLines({ operators, definitions: found }: ServerVersions): readonly string[] {
  const installed = found?.filter(({ served }) => served.length > 0) ?? [];
  const missing = found?.filter(({ served }) => served.length === 0).map(({ name }) => name) ?? [];
  const versions = [...new Set(installed.flatMap(({ served }) => served))].join(", ");
  const crds =
    found === undefined
      ? "unknown: no permission to read custom resource definitions"
      : installed.length === 0
        ? "not installed"
        : `${versions} of ${installed.map(({ name }) => name).join(", ")}${missing.length === 0 ? "" : `; not installed: ${missing.join(", ")}`}`;
  const lines =
    operators === undefined
      ? ["unknown: no permission to read Deployments in all namespaces"]
      : operators.length === 0
        ? ["not installed"]
        : operators.map(
            ({ deployment, version, image, ready, replicas }) =>
              `${version} in ${deployment} (${ready} of ${replicas} ready, ${image})`,
          );
  return [...lines.map((line) => `operator:  ${line}\n`), `crds:      ${crds}\n`];
}

function equivalents({ flags }: CommandContext) {
  if (flags.on("client"))
    return [{ comment: "the version of this program", args: ["firebolt", "version", "--client"] }];
  return [
    {
      comment: "the operators and their images",
      args: [...kubectlArgs(flags, "get", "deployments", "-A", "-l", "control-plane=controller-manager", "-o", "wide")],
    },
    {
      comment: "the custom resource definitions",
      args: kubectlArgs(flags, "get", "customresourcedefinitions", ...NAMES),
    },
  ];
}

async function allowed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
