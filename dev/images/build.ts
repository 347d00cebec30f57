// The operator's image for this machine's architecture, without a container engine: `node dev/images/build.ts --out
// FILE`. The same sources on the same machine give the same bytes. `--files FOLDER` writes only the files on top of
// Node, which the Dockerfile copies.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundleProgram, OPERATOR_BUNDLE, versionDefinitions } from "./bundle.ts";
import { imageArchitecture } from "./machine-platform.ts";
import { assembleImage, createLayerPacker, sizesOf, writeArchive } from "./oci.ts";
import { composeOperatorImage, type ImageSource, operatorFiles } from "./operator-image.ts";
import { readSourceVersion } from "./source-version.ts";

const ROOT = join(import.meta.dirname, "../..");
const USAGE = `Usage: node dev/images/build.ts --out FILE [--reference NAME:TAG] [options]
       node dev/images/build.ts --files FOLDER [options]
Options: --program FILE (instead of bundling the sources), --node FILE (the image's Node), --revision COMMIT, --created TIME`;
const REPOSITORY = "ghcr.io/firebolt-db/firebolt-operator";

const text = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    out: text,
    files: text,
    reference: text,
    program: text,
    node: text,
    revision: text,
    created: text,
  },
});

async function readSource(): Promise<Omit<ImageSource, "architecture">> {
  const sources = readSourceVersion(ROOT);
  const createdSeconds = values.created === undefined ? sources.createdSeconds : Date.parse(values.created) / 1000;
  if (Number.isNaN(createdSeconds)) throw new Error(`--created ${values.created}: not a time`);
  const version = { ...sources, createdSeconds, revision: values.revision ?? sources.revision };
  const node = values.node ?? process.execPath;
  return {
    ...version,
    root: ROOT,
    node,
    nodeVersion: execFileSync(node, ["-p", "process.versions.node"], { encoding: "utf8" }).trim(),
    program:
      values.program === undefined
        ? await bundleProgram({ ...OPERATOR_BUNDLE, root: ROOT, define: versionDefinitions(version) })
        : readFileSync(resolve(values.program)),
  };
}

async function writeImage(out: string): Promise<void> {
  const source = { ...(await readSource()), architecture: imageArchitecture() };
  const { layers, settings } = await composeOperatorImage(source);
  const packer = createLayerPacker("gzip");
  const image = assembleImage(layers.map(packer.pack), settings);
  write(out, writeArchive(image, [values.reference ?? `${REPOSITORY}:v${source.version}`]));
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  const { compressedBytes, unpackedBytes } = sizesOf(image);
  process.stdout.write(
    `${out}\nsize ${mebibytes(compressedBytes)} compressed, ${mebibytes(unpackedBytes)} unpacked\ndigest ${image.manifest.digest}\n`,
  );
}

/** The base image lists its own packages. */
async function writeFiles(folder: string): Promise<void> {
  for (const { path, content } of await operatorFiles(await readSource(), [])) write(join(folder, path), content);
}

function write(file: string, content: Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

if (values.out !== undefined) await writeImage(resolve(values.out));
else if (values.files !== undefined) await writeFiles(resolve(values.files));
else {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 2;
}
