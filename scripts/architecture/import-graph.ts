// The imports of the whole repository, read from the syntax tree of every source file: static, dynamic, re-exports, `import("…")` as a type,
// with or without types.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { type ParseResult, parseSync, Visitor } from "vite";

const FOLDERS = ["src", "packages", "dev", "test", "bench", "scripts"];
/** The workspace's scope: `@firebolt-operator/kube/client` is the entry `client` of `packages/kube`. */
const SCOPE = "@firebolt-operator/";

export interface Import {
  readonly from: string;
  /** As written. */
  readonly specifier: string;
  /** Path in the repository, or `packages/NAME/ENTRY` for an entry of a workspace package. */
  readonly to: string;
  /** Whether code is imported, not types alone. */
  readonly value: boolean;
}

export function readImports(root: string): readonly Import[] {
  return sourceFiles(root).flatMap((file) => importsOf(file, readFileSync(join(root, file), "utf8")));
}

export function sourceFiles(root: string): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  ).filter(isSource);
}

export const isSource = (path: string): boolean =>
  /\.[cm]?[jt]sx?$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path);

/** Imports of packages from the registry and of Node itself are left out. */
export function importsOf(file: string, source: string): readonly Import[] {
  const { module, program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message ?? "cannot be parsed"}`);
  const found = new Map<string, boolean>();
  const add = (specifier: string, value: boolean): void => {
    found.set(specifier, value || (found.get(specifier) ?? false));
  };
  for (const { moduleRequest, entries } of module.staticImports)
    add(moduleRequest.value, entries.length === 0 || entries.some(({ isType }) => !isType));
  for (const { entries } of module.staticExports)
    for (const { moduleRequest, isType } of entries) if (moduleRequest) add(moduleRequest.value, !isType);
  for (const argument of dynamicArguments(module, source)) {
    const literal = literalIn(argument);
    if (literal !== undefined) add(literal, true);
  }
  new Visitor({
    TSImportType: ({ source: { value } }) => add(value, false),
    TSExternalModuleReference: ({ expression: { value } }) => add(value, true),
  }).visit(program);
  return [...found].flatMap(([specifier, value]) => {
    const to = resolve(file, specifier);
    return to === undefined ? [] : [{ from: file, specifier, to, value }];
  });
}

/** What `import()` gets where that is no literal: no rule can be checked there. */
export function computedImportsOf(file: string, source: string): readonly string[] {
  if (!source.includes("import(")) return [];
  return dynamicArguments(parseSync(file, source).module, source).filter((text) => literalIn(text) === undefined);
}

const dynamicArguments = ({ dynamicImports }: ParseResult["module"], source: string): readonly string[] =>
  dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start, end));

const literalIn = (text: string): string | undefined => /^(["'`])([^"'`$\\]+)\1$/.exec(text)?.[2];

function resolve(file: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return normalize(join(dirname(file), specifier));
  return specifier.startsWith(SCOPE) ? `packages/${specifier.slice(SCOPE.length)}` : undefined;
}

/** Groups of files that import each other, directly or not: each a cycle. */
export function findCycles(imports: readonly Pick<Import, "from" | "to">[]): readonly (readonly string[])[] {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const next = (file: string) => (targets.get(file) ?? []).map(({ to }) => to);
  const state = new Map<string, "open" | "done">();
  const path: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      cycles.push([...path.slice(path.indexOf(file)), file]);
      return;
    }
    state.set(file, "open");
    path.push(file);
    for (const target of next(file)) visit(target);
    path.pop();
    state.set(file, "done");
  };
  for (const file of targets.keys()) visit(file);
  return cycles;
}
