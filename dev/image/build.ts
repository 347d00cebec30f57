// `node dev/image/build.ts --out FILE`: builds the operator's image for this machine's architecture without a container engine, and prints
// where it is, its size and its digest. The same sources on the same machine give the same bytes.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildOperatorImage, type ImageSource } from "./operator-image.ts";

const ROOT = join(import.meta.dirname, "../..");
const USAGE = "Usage: node dev/image/build.ts --out FILE [--reference NAME:TAG] [--program FILE] [--sbom FILE]";
const ARCHITECTURES: Readonly<Record<string, ImageSource["architecture"]>> = { x64: "amd64", arm64: "arm64" };
const REPOSITORY = "ghcr.io/firebolt-db/firebolt-operator";

/** What git says; undefined in a source archive, which has no history. */
function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  if (typeof manifest !== "object" || manifest === null || !("version" in manifest)) throw new Error("no version");
  return String(manifest.version);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      out: { type: "string" },
      reference: { type: "string" },
      program: { type: "string" },
      sbom: { type: "string" },
    },
  });
  if (values.out === undefined) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const architecture = ARCHITECTURES[process.arch];
  if (process.platform !== "linux" || architecture === undefined) {
    process.stderr.write(
      `an image can be built on Linux (x64 or arm64) only, not on ${process.platform} ${process.arch}\n`,
    );
    return 1;
  }
  if (values.program === undefined)
    execFileSync(process.execPath, ["scripts/build.ts"], { cwd: ROOT, stdio: "inherit" });
  const version = readVersion();
  const image = await buildOperatorImage({
    root: ROOT,
    program: resolve(values.program ?? join(ROOT, "dist/firebolt-operator.mjs")),
    node: process.execPath,
    nodeVersion: process.versions.node,
    version,
    revision: git("rev-parse", "HEAD") ?? "unknown",
    createdSeconds: Number(process.env["SOURCE_DATE_EPOCH"] ?? git("log", "-1", "--format=%ct") ?? 0),
    reference: values.reference ?? `${REPOSITORY}:v${version}`,
    architecture,
  });
  const out = resolve(values.out);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, image.archive);
  if (values.sbom !== undefined) writeFileSync(values.sbom, image.sbom);
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  process.stdout.write(
    `${out}\nsize ${mebibytes(image.compressedBytes)} compressed, ${mebibytes(image.unpackedBytes)} unpacked\ndigest ${image.digest}\n`,
  );
  return 0;
}

process.exitCode = await main();
