// Which npm packages end up in the bundled program, with versions and licences: reported by the bundler itself, so that
// the list cannot be wrong.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  readonly licenseText: string | undefined;
  /** Where npm got it from, and its checksum there. */
  readonly resolved: string | undefined;
  readonly sha512: string | undefined;
}

export async function bundledPackages(root: string): Promise<readonly BundledPackage[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/main.ts"],
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    metafile: true,
    logLevel: "error",
  });
  const folders = new Set(Object.keys(metafile.inputs).flatMap((path) => packageFolder(path) ?? []));
  const locked = lockedPackages(root);
  return [...folders].sort().map((folder) => describe(root, folder, locked[folder]));
}

/** `node_modules/a/lib/x.js` → `node_modules/a`; undefined for files of our own. */
function packageFolder(path: string): string | undefined {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
}

function lockedPackages(root: string): Readonly<Record<string, Locked>> {
  const lock: unknown = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  if (typeof lock !== "object" || lock === null || !("packages" in lock))
    throw new Error("package-lock.json has no packages");
  return lock.packages as Readonly<Record<string, Locked>>;
}

function describe(root: string, folder: string, locked: Locked | undefined): BundledPackage {
  const path = join(root, folder);
  const manifest: unknown = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const text = (key: string): string => {
    const value = typeof manifest === "object" && manifest !== null ? Reflect.get(manifest, key) : undefined;
    if (typeof value !== "string") throw new Error(`${folder}/package.json has no ${key}`);
    return value;
  };
  const file = readdirSync(path).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  const integrity = locked?.integrity?.replace(/^sha512-/, "");
  return {
    name: text("name"),
    version: text("version"),
    license: text("license"),
    licenseText:
      file !== undefined && existsSync(join(path, file)) ? readFileSync(join(path, file), "utf8") : undefined,
    resolved: locked?.resolved,
    sha512: integrity === undefined ? undefined : Buffer.from(integrity, "base64").toString("hex"),
  };
}
