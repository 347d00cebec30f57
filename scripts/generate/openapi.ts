// Reads the OpenAPI documents inside the pinned k8s.io/kubernetes Go module. Reads the module cache first; calls the
// module proxy only when allowed. Knows documents and schemas, not what they are used for.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A schema as Kubernetes publishes it: more keywords than a CRD may use. */
export interface OpenApiSchema {
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly items?: OpenApiSchema;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly additionalProperties?: OpenApiSchema;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** All schemas by their full name, e.g. `io.k8s.api.core.v1.Pod`. */
export interface OpenApi {
  readonly kubernetesVersion: string;
  readonly schemas: ReadonlyMap<string, OpenApiSchema>;
}

const MODULE = "k8s.io/kubernetes";
const DOCUMENTS = [
  "api__v1",
  "apis__admissionregistration.k8s.io__v1",
  "apis__apiextensions.k8s.io__v1",
  "apis__apps__v1",
  "apis__authentication.k8s.io__v1",
  "apis__authorization.k8s.io__v1",
  "apis__coordination.k8s.io__v1",
  "apis__discovery.k8s.io__v1",
  "apis__events.k8s.io__v1",
  "apis__networking.k8s.io__v1",
  "apis__policy__v1",
  "apis__rbac.authorization.k8s.io__v1",
  "apis__storage.k8s.io__v1",
] as const;

/** The version that the project's Go module pins. */
export async function pinnedKubernetesVersion(root: string): Promise<string> {
  const goMod = await readFile(join(moduleFolder(root), "go.mod"), "utf8");
  const version = /^\s*k8s\.io\/kubernetes (v[0-9.]+)$/m.exec(goMod)?.[1];
  if (version === undefined) throw new Error(`${moduleFolder(root)}/go.mod does not require ${MODULE}`);
  return version;
}

export type OpenApiSource =
  | { readonly type: "found"; readonly openApi: OpenApi }
  | { readonly type: "unavailable"; readonly why: string };

/** The documents of the pinned version; `unavailable` when there is no Go or the module is not available. */
export async function readOpenApi(root: string, access: "cache" | "download"): Promise<OpenApiSource> {
  const kubernetesVersion = await pinnedKubernetesVersion(root);
  const found = await findModule(root, kubernetesVersion, access);
  if (found.type === "unavailable") return found;
  const schemas = new Map<string, OpenApiSchema>();
  for (const document of DOCUMENTS) {
    const path = join(found.folder, "api", "openapi-spec", "v3", `${document}_openapi.json`);
    for (const [name, schema] of Object.entries(schemasOf(JSON.parse(await readFile(path, "utf8")), path))) {
      schemas.set(name, schema);
    }
  }
  return { type: "found", openApi: { kubernetesVersion, schemas } };
}

async function findModule(
  root: string,
  version: string,
  access: "cache" | "download",
): Promise<
  { readonly type: "found"; readonly folder: string } | { readonly type: "unavailable"; readonly why: string }
> {
  const env = access === "cache" ? { ...process.env, GOPROXY: "off" } : process.env;
  try {
    const { stdout } = await run("go", ["mod", "download", "-json", `${MODULE}@${version}`], {
      cwd: moduleFolder(root),
      env,
      timeout: 300_000,
    });
    const module: unknown = JSON.parse(stdout);
    if (isRecord(module) && typeof module["Dir"] === "string") return { type: "found", folder: module["Dir"] };
    return { type: "unavailable", why: `go mod download gave no folder for ${MODULE}@${version}` };
  } catch (error) {
    // No Go on the machine, or the module is not to be had: the caller decides whether that matters.
    return { type: "unavailable", why: `${MODULE}@${version}: ${reasonOf(error)}` };
  }
}

/** `go mod download -json` reports failures on stdout; a missing `go` fails by itself. */
function reasonOf(error: unknown): string {
  const stdout = isRecord(error) && typeof error["stdout"] === "string" ? error["stdout"] : "";
  const reported = /"Error":\s*"((?:[^"\\]|\\.)*)"/.exec(stdout)?.[1];
  return reported ?? (error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
}

const moduleFolder = (root: string): string => join(root, "dev", "assets", "go", "kubernetes");

function schemasOf(document: unknown, path: string): Readonly<Record<string, OpenApiSchema>> {
  const components = isRecord(document) ? document["components"] : undefined;
  const schemas = isRecord(components) ? components["schemas"] : undefined;
  if (!isSchemas(schemas)) throw new Error(`${path} has no components.schemas`);
  return schemas;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSchemas = (value: unknown): value is Readonly<Record<string, OpenApiSchema>> =>
  isRecord(value) && Object.values(value).every(isRecord);

/** The schema that a property points at, by name: Kubernetes writes `$ref` alone or inside a one-element `allOf`. */
export function refOf(schema: OpenApiSchema): string | undefined {
  const ref = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  return ref?.slice(ref.lastIndexOf("/") + 1);
}

/** The schema of this name; its absence means that the pinned version no longer fits the generator. */
export function schemaNamed(openApi: OpenApi, name: string): OpenApiSchema {
  const schema = openApi.schemas.get(name);
  if (schema === undefined) throw new Error(`Kubernetes ${openApi.kubernetesVersion} has no schema ${name}`);
  return schema;
}
