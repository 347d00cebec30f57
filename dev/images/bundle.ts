// Bundles a program with all it needs at run time into one file. Returns the code; the caller writes it.
import { SourceMap, type SourceMapPayload } from "node:module";
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { directImports } from "./direct-imports.ts";
import type { SourceVersion } from "./source-version.ts";

/** The operator's own program. */
export const OPERATOR_BUNDLE = {
  entry: "src/cli/main.ts",
  interpreter: "/usr/bin/env node",
  target: "node22",
} as const;

/** Long enough for esbuild's long statements, short enough for line numbers to be useful. */
const LINE_LIMIT = 160;

export interface Bundle {
  readonly root: string;
  /** From the root. */
  readonly entry: string;
  /** The first line of the file. */
  readonly interpreter: string;
  /** The oldest Node that must be able to run it, as esbuild names it. */
  readonly target: string;
  /** Names that are replaced by values. */
  readonly define?: Readonly<Record<string, string>>;
}

export async function bundleProgram(bundle: Bundle): Promise<Buffer> {
  const { outputFiles } = await build({ ...optionsOf(bundle), write: false, sourcemap: false });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`bundling ${bundle.entry} gave no file`);
  assertAscii(output.text, bundle.entry);
  return Buffer.from(output.contents);
}

/** From places in the bundle to places in the sources, for profiles. */
export async function mapProgram(bundle: Bundle): Promise<SourceMap> {
  const outfile = join(bundle.root, "dist/mapped.mjs");
  const { outputFiles } = await build({ ...optionsOf(bundle), write: false, sourcemap: "external", outfile });
  const map = outputFiles.find(({ path }) => path.endsWith(".map"));
  if (map === undefined) throw new Error(`bundling ${bundle.entry} gave no source map`);
  return new SourceMap(JSON.parse(map.text) as SourceMapPayload);
}

function optionsOf({ root, entry, interpreter, target, define = {} }: Bundle) {
  return {
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    target,
    format: "esm",
    minifySyntax: true,
    // Comments are removed, names stay: a stack trace can be found in the sources.
    minifyWhitespace: true,
    lineLimit: LINE_LIMIT,
    plugins: [requireBuiltins, directImports(root)],
    legalComments: "none",
    logLevel: "error",
    define: Object.fromEntries(Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)])),
    banner: {
      // The CommonJS packages inside the bundle load Node's own modules with `require`.
      js: `#!${interpreter}\nimport { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);`,
    },
  } satisfies BuildOptions;
}

/**
 * Node's own modules by `require`. An `import` of one evaluates every name it exports, also those that Node loads only on demand: with
 * node:http that is a second HTTP client, and 7 MB of resident memory.
 */
const requireBuiltins: Plugin = {
  name: "require-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, namespace }) =>
      namespace === "builtin" ? { path, external: true } : { path, namespace: "builtin" },
    );
    onLoad({ filter: /^node:/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/** One character beyond Latin-1 makes Node hold the whole program with two bytes per character. */
function assertAscii(text: string, entry: string): void {
  const at = /[\u0080-\uffff]/.exec(text);
  if (at === null) return;
  const around = text.slice(Math.max(0, at.index - 40), at.index + 20);
  throw new Error(`the bundle of ${entry} has a character that is not ASCII, write it as \\u escape: ${around}`);
}

/** What our programs print for `--version`. */
export function versionDefinitions({ version, revision }: SourceVersion): Readonly<Record<string, string>> {
  return { FIREBOLT_OPERATOR_VERSION: version, FIREBOLT_OPERATOR_REVISION: revision.slice(0, 12) };
}
