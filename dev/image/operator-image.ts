// The operator's image: what is in it and how it is started. The same facts as in the Dockerfile, which a test compares.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BundledPackage, bundledPackages } from "./bundled-packages.ts";
import { buildImage, type Image, type ImageSettings, type Layer } from "./oci.ts";
import { renderSbom } from "./sbom.ts";
import { packagesOf, type SystemPackage, sharedLibrariesOf } from "./shared-libraries.ts";
import type { TarEntry } from "./tar.ts";

export const USER = "65532:65532";
export const NODE_PATH = "usr/bin/node";
export const PROGRAM_PATH = "usr/lib/firebolt-operator/firebolt-operator.mjs";
export const SBOM_PATH = "usr/share/sbom/firebolt-operator.spdx.json";
const DOC = "usr/share/doc/firebolt-operator";

export const ENVIRONMENT = [
  "PATH=/usr/bin",
  "NODE_ENV=production",
  // A small young generation keeps resident memory about 10 MB lower; the heap ends before the container's memory does.
  "NODE_OPTIONS=--max-semi-space-size=2 --max-old-space-size-percentage=75",
];

export interface ImageSource {
  /** Root of the repository. */
  readonly root: string;
  /** The bundled program. */
  readonly program: string;
  /** A Node for the image's platform. */
  readonly node: string;
  readonly nodeVersion: string;
  readonly version: string;
  readonly revision: string;
  readonly createdSeconds: number;
  readonly reference: string;
  readonly architecture: ImageSettings["architecture"];
}

export interface OperatorImage extends Image {
  readonly sbom: string;
}

export async function buildOperatorImage(source: ImageSource): Promise<OperatorImage> {
  const program = readFileSync(source.program);
  const libraries = sharedLibrariesOf(source.node);
  const [bundled, system] = [await bundledPackages(source.root), packagesOf(libraries)];
  const programSha256 = createHash("sha256").update(program).digest("hex");
  const sbom = `${JSON.stringify(renderSbom({ ...source, programSha256, bundled, system }), undefined, 1)}\n`;
  const file = (path: string, text: string): TarEntry => ({ type: "file", path, content: Buffer.from(text) });
  // What changes least comes first: nodes keep layers they have.
  const layers: readonly Layer[] = [
    {
      comment: "base: C library, user, folders",
      entries: [
        ...libraries.map(({ path, content }): TarEntry => {
          return { type: "file", path: path.slice(1), content, mode: 0o755 };
        }),
        ...["dev", "proc", "sys"].map((path): TarEntry => ({ type: "folder", path })),
        { type: "folder", path: "tmp", mode: 0o1777 },
        { type: "folder", path: "home/nonroot", mode: 0o700, uid: 65532, gid: 65532 },
        file(
          "etc/passwd",
          "root:x:0:0:root:/:/nonexistent\nnonroot:x:65532:65532:nonroot:/home/nonroot:/nonexistent\n",
        ),
        file("etc/group", "root:x:0:\nnonroot:x:65532:\n"),
        file("etc/nsswitch.conf", "hosts: files dns\n"),
      ],
    },
    {
      comment: `node ${source.nodeVersion}`,
      entries: [{ type: "file", path: NODE_PATH, content: readFileSync(source.node), mode: 0o755 }],
    },
    {
      comment: `firebolt-operator ${source.version}`,
      entries: [
        { type: "file", path: PROGRAM_PATH, content: program },
        file(SBOM_PATH, sbom),
        file(`${DOC}/LICENSE`, readFileSync(join(source.root, "LICENSE"), "utf8")),
        file(`${DOC}/THIRD-PARTY-LICENSES`, renderLicenses(bundled, system)),
      ],
    },
  ];
  const image = buildImage(layers, {
    reference: source.reference,
    architecture: source.architecture,
    user: USER,
    environment: ENVIRONMENT,
    entrypoint: [`/${NODE_PATH}`, `/${PROGRAM_PATH}`],
    labels: renderLabels(source),
    createdSeconds: source.createdSeconds,
  });
  return { ...image, sbom };
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
