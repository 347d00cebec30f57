// `node dev/images/build-dockerfile.ts --out FILE`: builds the Dockerfile with buildah and checks the result. The base
// images are stand-ins made of this machine's Node unless `--bases registry` pulls the real ones. Needs root, buildah,
// and npm's registry or its cache; keeps only FILE, an archive.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundleProgram, OPERATOR_BUNDLE, versionDefinitions } from "./bundle.ts";
import { composeBuildBase, composeRuntimeBase } from "./docker-bases.ts";
import { imageArchitecture } from "./machine-platform.ts";
import { assembleImage, createLayerPacker, type ImageParts, writeArchive } from "./oci.ts";
import { PROGRAM_PATH, renderLabels, SBOM_PATH, USER } from "./operator-image.ts";
import { readSourceVersion } from "./source-version.ts";

const ROOT = join(import.meta.dirname, "../..");
const IMAGE = "localhost/firebolt/operator-dockerfile:checked";
const BASES = {
  NODE_IMAGE: "localhost/firebolt/build-base:1",
  BASE_IMAGE: "localhost/firebolt/runtime-base:1",
} as const;
const NODE = "/nodejs/bin/node";

const print = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Runs buildah in separate folders; returns its output. */
type Buildah = (...args: readonly string[]) => string;

function openBuildah(work: string): Buildah {
  const storage = ["--storage-driver", "vfs", "--root", join(work, "root"), "--runroot", join(work, "run")];
  return (...args) => {
    try {
      return execFileSync("buildah", [...storage, ...args], {
        cwd: ROOT,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
        // chroot: works inside containers and virtual machines that allow no other nesting.
        env: { ...process.env, BUILDAH_ISOLATION: "chroot", TMPDIR: work },
      });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT")
        throw new Error("buildah is not on this machine: apt-get install --no-install-recommends buildah");
      throw error;
    }
  };
}

function loadBases(buildah: Buildah, work: string): readonly string[] {
  const bench = {
    root: ROOT,
    node: process.execPath,
    nodeVersion: process.versions.node,
    architecture: imageArchitecture(),
  };
  const packer = createLayerPacker("zstd");
  const load = (name: string, { layers, settings }: ImageParts): void => {
    const file = join(work, "base.tar");
    writeFileSync(file, writeArchive(assembleImage(layers.map(packer.pack), settings), [name]));
    buildah("tag", buildah("pull", "--quiet", `oci-archive:${file}`).trim(), name);
    rmSync(file);
  };
  load(BASES.NODE_IMAGE, composeBuildBase(bench));
  load(BASES.BASE_IMAGE, composeRuntimeBase(bench));
  return Object.entries(BASES).flatMap(([argument, name]) => ["--build-arg", `${argument}=${name}`]);
}

/** How this machine reaches npm's registry: its settings and its certificate authority. */
function npmSecrets(work: string): readonly string[] {
  const [settings, authority] = [join(homedir(), ".npmrc"), process.env["NODE_EXTRA_CA_CERTS"]];
  const lines = existsSync(settings) ? [readFileSync(settings, "utf8")] : [];
  if (authority !== undefined) lines.push("cafile=/run/secrets/npm-ca");
  const file = join(work, "npmrc");
  writeFileSync(file, `${lines.join("\n")}\n`);
  return [
    ...["--secret", `id=npmrc,src=${file}`],
    ...(authority === undefined ? [] : ["--secret", `id=npm-ca,src=${authority}`]),
  ];
}

async function main(out: string, bases: string): Promise<void> {
  const source = readSourceVersion(ROOT);
  const created = new Date(source.createdSeconds * 1000).toISOString();
  const work = mkdtempSync(join(tmpdir(), "dockerfile-"));
  const buildah = openBuildah(work);
  try {
    print("base images …");
    const replaced = bases === "registry" ? [] : loadBases(buildah, work);
    print("buildah build …");
    const versions = { VERSION: source.version, REVISION: source.revision, CREATED: created };
    const args = Object.entries(versions).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
    buildah("build", "--tag", IMAGE, ...replaced, ...npmSecrets(work), ...args, ".");
    await check(buildah);
    rmSync(out, { force: true });
    buildah("push", IMAGE, `oci-archive:${out}:${IMAGE}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function check(buildah: Buildah): Promise<void> {
  const source = readSourceVersion(ROOT);
  const inspected: unknown = JSON.parse(buildah("inspect", "--type", "image", IMAGE));
  const setting = (name: string): unknown => valueAt(inspected, ["OCIv1", "config", name]);
  expectEqual("user", setting("User"), USER);
  expectEqual("entry point", setting("Entrypoint"), [NODE, `/${PROGRAM_PATH}`]);
  for (const [name, value] of Object.entries(renderLabels(source)))
    expectEqual(`label ${name}`, valueAt(setting("Labels"), [name]), value);
  const container = buildah("from", IMAGE).trim();
  const folder = buildah("mount", container).trim();
  const define = versionDefinitions(source);
  const program = await bundleProgram({ ...OPERATOR_BUNDLE, root: ROOT, define });
  expectEqual("same program", readFileSync(join(folder, PROGRAM_PATH)).equals(program), true);
  const sbom: unknown = JSON.parse(readFileSync(join(folder, SBOM_PATH), "utf8"));
  expectEqual("format of the SBOM", valueAt(sbom, ["spdxVersion"]), "SPDX-2.3");
  expectEqual("packages of npm", execFileSync("find", [folder, "-name", "node_modules"], { encoding: "utf8" }), "");
  const run = (...args: readonly string[]): string => buildah("run", container, "--", NODE, ...args).trim();
  expectEqual("--version", run(`/${PROGRAM_PATH}`, "--version"), source.version);
  expectEqual("user and group of the process", run("-p", "[process.getuid(), process.getgid()].join()"), "65532,65532");
  buildah("umount", container);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), value);
}

function expectEqual(what: string, actual: unknown, wanted: unknown): void {
  const [found, expected] = [JSON.stringify(actual), JSON.stringify(wanted)];
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`);
  print(`ok: ${what}`);
}

const { values } = parseArgs({ options: { out: { type: "string" }, bases: { type: "string", default: "local" } } });
if (values.out === undefined || !["local", "registry"].includes(values.bases)) {
  print("Usage: node dev/images/build-dockerfile.ts --out FILE [--bases local|registry]");
  process.exitCode = 2;
} else await main(resolve(values.out), values.bases);
