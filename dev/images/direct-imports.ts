// Rewrites imports of a workspace package, while a program is bundled, from its entries to the modules that define the names. In a bundle
// whose parts load on demand, the first import through an entry would initialise every module behind it, and the wake agent would load the
// operator's servers.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";

/** A package of the workspace, by the specifiers of its entries. */
export type Entries = ReadonlyMap<string, Entry>;

interface Entry {
  /** Path of the entry. */
  readonly file: string;
  /** Path of the module that defines a name. A name that the entry defines itself is not here. */
  readonly modules: ReadonlyMap<string, string>;
}

const IMPORT = /^(import|export) \{([^}]*)\} from "([^"]+)";/gm;
const EXPORT = /^export \{([^}]*)\} from "([^"]+)";/gm;

export function directImports(root: string): Plugin {
  return {
    name: "direct-imports",
    setup({ onLoad }) {
      const entries = readEntries(join(root, "packages/kube"));
      onLoad({ filter: /\.ts$/ }, ({ path }) => ({
        contents: withDirectImports(readFileSync(path, "utf8"), entries),
        loader: "ts",
      }));
    },
  };
}

export function readEntries(folder: string): Entries {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, string>>;
  };
  const sources = Object.entries(manifest.exports).filter(([, path]) => path.endsWith(".ts"));
  return new Map(
    sources.map(([name, path]) => {
      const file = join(folder, path);
      return [join(manifest.name, name), { file, modules: readModules(file) }];
    }),
  );
}

function readModules(entry: string): ReadonlyMap<string, string> {
  const found = readFileSync(entry, "utf8").matchAll(EXPORT);
  return new Map(
    [...found].flatMap(([, names = "", from = ""]) =>
      values(names).map((name) => [name, join(dirname(entry), from)] as const),
    ),
  );
}

/** Line numbers stay: profiles and stack traces of the bundle are read with the sources at hand. */
export function withDirectImports(source: string, entries: Entries): string {
  return source.replace(IMPORT, (statement: string, verb: string, names: string, from: string) => {
    const entry = entries.get(from);
    if (entry === undefined) return statement;
    const byModule = Map.groupBy(
      values(names),
      (part) => entry.modules.get(part.split(" as ")[0] ?? part) ?? entry.file,
    );
    const imports = [...byModule].map(
      ([file, parts]) => `${verb} { ${parts.join(", ")} } from ${JSON.stringify(file)};`,
    );
    return imports.join(" ") + "\n".repeat(statement.split("\n").length - 1);
  });
}

/** Types disappear: they need no import. */
function values(names: string): readonly string[] {
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "));
}
