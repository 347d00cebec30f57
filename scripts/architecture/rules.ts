// architecture.json as rules: which folder a path belongs to, and which folders it may import. The longest entry that holds a path counts:
// src/engine/compute has only its own rules, not those of src/engine.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Import } from "./import-graph.ts";

export interface Rules {
  /** Folders with an entry of their own. */
  readonly folders: readonly string[];
  /** The longest folder with an entry that holds this path. */
  folderOf(path: string): string | undefined;
  /** The folders that code in `folder` may import, without itself; patterns are expanded. */
  importsOf(folder: string): readonly string[];
  /** The folders of which it may import types alone. */
  typesOf(folder: string): readonly string[];
  /** Undefined: allowed. Otherwise the rule that forbids the import, as a sentence. */
  violation(from: string, to: string, kind?: ImportKind): string | undefined;
  /** Permissions that no import needs, as sentences. Tests beside the code do not keep a permission of the code alive. */
  unused(imports: readonly Pick<Import, "from" | "to" | "value">[]): readonly string[];
}

export type ImportKind = "type" | "value";

interface Architecture {
  /** Sets that are deliberately wider than what is used: of each, one folder is enough. */
  readonly open: string;
  readonly sets: Readonly<Record<string, string>>;
  readonly folders: Readonly<Record<string, string>>;
  readonly tests: Readonly<Record<string, string>>;
}

/** Before a folder: only its types may be imported. */
const TYPES = "type:";

export function readRules(root: string): Rules {
  return createRules(parse(JSON.parse(readFileSync(join(root, "architecture.json"), "utf8"))));
}

export function createRules({ open, sets, folders, tests }: Architecture): Rules {
  const names = Object.keys(folders);
  const longestFirst = names.toSorted((one, other) => other.length - one.length);
  const folderOf = (path: string) => longestFirst.find((name) => isWithin(path, name));
  const expand = (list: string): readonly string[] =>
    words(list)
      .flatMap((word) => words(sets[word] ?? word))
      .flatMap((word) => (word.endsWith("/*") ? names.filter((name) => isBelow(name, word.slice(0, -2))) : [word]));
  const testsBeside = (path: string) =>
    path.endsWith(".test.ts") ? Object.keys(tests).find((name) => isWithin(path, name)) : undefined;
  const unusedIn = (list: string, used: ReadonlyMap<string, boolean>): readonly string[] =>
    words(list).flatMap((word) => {
      const isUsed = (rule: string) =>
        rule.startsWith(TYPES) ? used.has(rule.slice(TYPES.length)) : used.get(rule) === true;
      const all = expand(word);
      if (words(open).includes(word)) return all.some((rule) => used.has(rule)) ? [] : [word];
      return all.filter((rule) => !isUsed(rule));
    });
  const rulesOf = (folder: string) => expand(folders[folder] ?? "").filter((name) => name !== folder);
  const testsOf = (path: string): readonly string[] => {
    const beside = testsBeside(path);
    return beside === undefined ? [] : expand(tests[beside] ?? "");
  };

  return {
    folders: names,
    folderOf,
    importsOf: (folder) => rulesOf(folder).filter((rule) => !rule.startsWith(TYPES)),
    typesOf: (folder) =>
      rulesOf(folder)
        .filter((rule) => rule.startsWith(TYPES))
        .map((rule) => rule.slice(TYPES.length)),
    violation(from, to, kind = "value") {
      const [source, target] = [folderOf(from), folderOf(to)];
      if (source === undefined) return `architecture.json has no entry for the folder of ${from}`;
      if (target === undefined) return `architecture.json has no entry for the folder of ${to}`;
      if (source === target) return undefined;
      const allowed = [...rulesOf(source), ...testsOf(from)];
      if (allowed.includes(target) || (kind === "type" && allowed.includes(`${TYPES}${target}`))) return undefined;
      return allowed.length === 0
        ? `${source} may import no other folder, so not ${target}`
        : `${source} may import ${allowed.join(", ")}, but not ${target}`;
    },
    unused(imports) {
      const used = new Map<string, Map<string, boolean>>();
      for (const { from, to, value } of imports) {
        const [source, target, beside] = [folderOf(from), folderOf(to), testsBeside(from)];
        if (source === undefined || target === undefined || source === target) continue;
        const entry = beside === undefined ? source : `tests of ${beside}`;
        const targets = used.get(entry) ?? new Map<string, boolean>();
        used.set(entry, targets.set(target, value || targets.get(target) === true));
      }
      const sentences = (entry: string, list: string) =>
        unusedIn(list, used.get(entry) ?? new Map()).map((rule) => `${entry} may import ${rule}, and does not`);
      return [
        ...names.flatMap((name) => sentences(name, folders[name] ?? "")),
        ...Object.entries(tests).flatMap(([name, list]) => sentences(`tests of ${name}`, list)),
      ];
    },
  };
}

export const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);

const isWithin = (path: string, folder: string): boolean => path === folder || isBelow(path, folder);

const words = (list: string): readonly string[] => list.split(" ").filter((word) => word !== "");

function parse(value: unknown): Architecture {
  if (!isRecord(value)) throw new Error("architecture.json is not an object");
  const open = value["open"];
  if (typeof open !== "string") throw new Error("architecture.json: open is not a string");
  return { open, sets: strings(value, "sets"), folders: strings(value, "folders"), tests: strings(value, "tests") };
}

function strings(value: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, string>> {
  const map = value[key];
  if (!isRecord(map)) throw new Error(`architecture.json: ${key} is not an object`);
  return Object.fromEntries(
    Object.entries(map).map(([name, list]) => {
      if (typeof list !== "string") throw new Error(`architecture.json: ${key}.${name} is not a string`);
      return [name, list];
    }),
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
