// The operator's image: what is in it and how it is started. The same facts as in the Dockerfile, which a test compares.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundleProgram, OPERATOR_BUNDLE, versionDefinitions } from "./bundle.ts";
import { type BundledPackage, bundledPackages } from "./bundled-packages.ts";
import type { ImagePlan, Workbench } from "./image-plan.ts";
import { NODE_ENVIRONMENT, NODE_PATH, nodeLayers, textFile } from "./node-base.ts";
import type { ImageParts, ImageSettings, Layer } from "./oci.ts";
import { renderSbom } from "./sbom.ts";
import { packagesOf, type SystemPackage, sharedLibrariesOf } from "./shared-libraries.ts";
import { readSourceVersion } from "./source-version.ts";
import type { FileEntry } from "./tar.ts";

export const USER = "65532:65532";
export const PROGRAM_PATH = "usr/lib/firebolt-operator/firebolt-operator.mjs";
export const SBOM_PATH = "usr/share/sbom/firebolt-operator.spdx.json";
const DOC = "usr/share/doc/firebolt-operator";

export const ENVIRONMENT = [
  ...NODE_ENVIRONMENT.map((variable) =>
    // One thread beside the program's own is plenty for the little that V8 does there.
    variable.startsWith("NODE_OPTIONS=") ? `${variable} --v8-pool-size=1` : variable,
  ),
  // Threads that each have a heap of their own never give back what they once needed.
  "MALLOC_ARENA_MAX=1",
];

/**
 * How V8 is to run a program that waits for the network most of the time (bench/NOTEBOOK.md has the measurements): collect early and
 * compactly, and compile one function at a time. NODE_OPTIONS takes none of them.
 */
export const V8_FLAGS = ["--memory-saver-mode", "--no-concurrent-recompilation"];

export interface ImageSource {
  /** Root of the repository. */
  readonly root: string;
  /** The bundled program. */
  readonly program: Buffer;
  /** A Node for the image's platform. */
  readonly node: string;
  readonly nodeVersion: string;
  readonly version: string;
  readonly revision: string;
  readonly createdSeconds: number;
  readonly architecture: ImageSettings["architecture"];
}

export async function composeOperatorImage(source: ImageSource): Promise<ImageParts> {
  const libraries = sharedLibrariesOf(source.node);
  const layers: readonly Layer[] = [
    ...nodeLayers({ ...source, libraries }),
    {
      comment: `firebolt-operator ${source.version}`,
      entries: await operatorFiles(source, packagesOf(libraries)),
    },
  ];
  const settings = {
    architecture: source.architecture,
    user: USER,
    environment: ENVIRONMENT,
    entrypoint: [`/${NODE_PATH}`, ...V8_FLAGS, `/${PROGRAM_PATH}`],
    labels: renderLabels(source),
    createdSeconds: source.createdSeconds,
  };
  return { layers, settings };
}

export type ProgramSource = Pick<ImageSource, "root" | "program" | "nodeVersion" | "version" | "createdSeconds">;

/** What lies on top of Node: the program, the list of what the image is made of, and the licences. */
export async function operatorFiles(
  source: ProgramSource,
  system: readonly SystemPackage[],
): Promise<readonly FileEntry[]> {
  const { root, program } = source;
  const bundled = await bundledPackages(root);
  const programSha256 = createHash("sha256").update(program).digest("hex");
  const sbom = `${JSON.stringify(renderSbom({ ...source, programSha256, bundled, system }), undefined, 1)}\n`;
  return [
    { type: "file", path: PROGRAM_PATH, content: program },
    textFile(SBOM_PATH, sbom),
    textFile(`${DOC}/LICENSE`, readFileSync(join(root, "LICENSE"), "utf8")),
    textFile(`${DOC}/THIRD-PARTY-LICENSES`, renderLicenses(bundled, system)),
  ];
}

/** The same image for the local cluster. */
export async function planOperatorImage(bench: Workbench): Promise<ImagePlan> {
  const source = readSourceVersion(bench.root);
  const define = versionDefinitions(source);
  const program = await bundleProgram({ ...OPERATOR_BUNDLE, root: bench.root, define });
  return {
    version: source.version,
    machineFiles: [bench.node],
    contents: [program, Buffer.from(JSON.stringify(source)), readFileSync(join(bench.root, "package-lock.json"))],
    compose: () => composeOperatorImage({ ...bench, ...source, program }),
  };
}

/** Where the image comes from and where its contents are listed. */
export function renderLabels(
  source: Pick<ImageSource, "version" | "revision" | "createdSeconds">,
): Record<string, string> {
  return {
    "org.opencontainers.image.title": "firebolt-operator",
    "org.opencontainers.image.description": "The Firebolt Kubernetes operator",
    "org.opencontainers.image.version": source.version,
    "org.opencontainers.image.revision": source.revision,
    "org.opencontainers.image.created": new Date(source.createdSeconds * 1000).toISOString(),
    "org.opencontainers.image.licenses": "Apache-2.0",
    "io.firebolt.sbom": `/${SBOM_PATH}`,
  };
}

function renderLicenses(bundled: readonly BundledPackage[], system: readonly SystemPackage[]): string {
  const parts = [
    ...bundled.map(({ name, version, license, licenseText }) => ({
      title: `${name} ${version} (${license})`,
      text: licenseText,
    })),
    ...system.map(({ name, version, copyright }) => ({ title: `${name} ${version}`, text: copyright })),
  ];
  return parts
    .map(({ title, text }) => `${"=".repeat(80)}\n${title}\n${"=".repeat(80)}\n${text ?? "No text comes with it."}\n`)
    .join("\n");
}
