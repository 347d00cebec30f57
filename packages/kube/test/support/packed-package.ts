// The package as npm packs it, installed into an empty folder. Needs no network: its dependencies are packed from the
// installed ones.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const ROOT = join(import.meta.dirname, "../../../..");
const PACKAGE = "packages/kube";

export interface Installed extends Disposable {
  readonly folder: string;
  /** The names of the files in the package. */
  readonly files: readonly string[];
}

export function packAndInstall(): Installed {
  const work = mkdtempSync(join(tmpdir(), "packed-"));
  try {
    const tarball = pack(copyOfPackage(work), work);
    const folder = join(work, "empty");
    mkdirSync(folder);
    const dependencies = dependenciesOf(join(ROOT, PACKAGE)).map((name) => packInstalled(name, work));
    npm(["install", "--ignore-scripts", "--no-save", tarball, ...dependencies], folder);
    const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
    const remove = (): void => rmSync(work, { recursive: true, force: true });
    return { folder, files: files.map((file) => file.replace(/^package\//, "")), [Symbol.dispose]: remove };
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    throw error;
  }
}

/** Packing rewrites the manifest for a moment, which must not affect tests that run meanwhile. */
function copyOfPackage(work: string): string {
  const folder = join(work, "repository");
  const isOurs = (path: string): boolean => !["node_modules", "dist"].includes(basename(path));
  cpSync(join(ROOT, PACKAGE), join(folder, PACKAGE), { recursive: true, filter: isOurs });
  cpSync(join(ROOT, "tsconfig.json"), join(folder, "tsconfig.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return join(folder, PACKAGE);
}

/** Path of the archive. */
function pack(folder: string, work: string, ...args: readonly string[]): string {
  const said = npm(["pack", folder, "--json", "--pack-destination", work, ...args], folder);
  const packed = JSON.parse(said.slice(said.indexOf("[\n"))) as readonly { readonly filename: string }[];
  const [{ filename } = { filename: "" }] = packed;
  return join(work, filename);
}

const packInstalled = (name: string, work: string): string =>
  pack(join(ROOT, "node_modules", name), work, "--ignore-scripts");

/** All runtime dependencies, by name. */
function dependenciesOf(folder: string, found = new Set<string>()): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (found.has(name)) continue;
    found.add(name);
    dependenciesOf(join(ROOT, "node_modules", name), found);
  }
  return [...found];
}

/** The npm that runs the tests, if any. */
function npm(args: readonly string[], cwd: string): string {
  const running = process.env["npm_execpath"];
  const [program, first] = running?.endsWith("js") ? [process.execPath, [running]] : ["npm", []];
  return execFileSync(program, [...first, ...args, "--offline", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}
