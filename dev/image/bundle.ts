// Bundles a program with all it needs at run time into one file. Answers the text; writing it is the caller's business.
import { build } from "esbuild";
import type { SourceVersion } from "./source-version.ts";

/** The operator's own program. */
export const OPERATOR_BUNDLE = {
  entry: "src/cli/main.ts",
  interpreter: "/usr/bin/env node",
  target: "node22",
} as const;

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

export async function bundleProgram({ root, entry, interpreter, target, define = {} }: Bundle): Promise<Buffer> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: "node",
    target,
    format: "esm",
    minifySyntax: true,
    keepNames: true,
    sourcemap: false,
    legalComments: "none",
    logLevel: "error",
    define: Object.fromEntries(Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)])),
    banner: {
      // The CommonJS packages inside the bundle ask for Node's own modules by `require`.
      js: `#!${interpreter}\nimport { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);`,
    },
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`bundling ${entry} gave no file`);
  return Buffer.from(output.contents);
}

/** What our programs answer to `--version`. */
export function versionDefinitions({ version, revision }: SourceVersion): Readonly<Record<string, string>> {
  return { FIREBOLT_OPERATOR_VERSION: version, FIREBOLT_OPERATOR_REVISION: revision.slice(0, 12) };
}
