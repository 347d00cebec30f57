// The steps around `npm pack`: `pack.ts build` before it, `pack.ts restore` after it. The build compiles the sources to
// dist, points the manifest's entries to it, and compiles the examples against it, as a user of the package would.
import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Manifest, packedManifest, sourceManifest } from "./manifest.ts";

const FOLDER = join(import.meta.dirname, "..");
const MANIFEST = join(FOLDER, "package.json");
const compile = (config: string): void => {
  execFileSync("tsc", ["-p", join(FOLDER, config)], { stdio: ["ignore", 2, 2] });
};

function build(): void {
  rmSync(join(FOLDER, "dist"), { recursive: true, force: true });
  compile("tsconfig.build.json");
  for (const file of globSync("**/*.sh", { cwd: join(FOLDER, "src") }))
    copyFileSync(join(FOLDER, "src", file), join(FOLDER, "dist", file));
  for (const file of globSync("dist/**/*.d.ts", { cwd: FOLDER })) nameJavaScript(join(FOLDER, file));
  writeManifest(packedManifest);
  compile("tsconfig.examples.json");
}

function restore(): void {
  writeManifest(sourceManifest);
  rmSync(join(FOLDER, "dist"), { recursive: true, force: true });
  for (const file of globSync("examples/**/*.js", { cwd: FOLDER })) rmSync(join(FOLDER, file));
}

/** The compiler rewrites import paths only in JavaScript; not every compiler finds `x.d.ts` for `x.ts`. */
function nameJavaScript(declarations: string): void {
  const text = readFileSync(declarations, "utf8");
  writeFileSync(declarations, text.replaceAll(/(from |import\()"(\.[^"]*)\.ts"/g, '$1"$2.js"'));
}

/** Atomic: readers see the old manifest or the new one, never a part. */
function writeManifest(form: (manifest: Manifest) => Manifest): void {
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8")) as Manifest;
  const unfinished = `${MANIFEST}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(form(manifest), undefined, 2)}\n`);
  renameSync(unfinished, MANIFEST);
}

const [step] = process.argv.slice(2);
if (step === "restore") restore();
else if (step === "build") {
  try {
    build();
  } catch (error) {
    // npm does not run postpack after a failed build.
    restore();
    throw error;
  }
} else {
  process.stderr.write("usage: node scripts/pack.ts build|restore\n");
  process.exitCode = 2;
}
