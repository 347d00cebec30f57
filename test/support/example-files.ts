// The manifests of examples/ as tests see them: the documents of each file, and what its header says must be there before. Reads
// files; applies nothing.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

export const EXAMPLES = join(import.meta.dirname, "../../examples");

/** What the lines `# needs: …` of a file ask for. */
export interface Needs {
  /** Files of examples/ to apply first, in this order. */
  readonly files: readonly string[];
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly defaultStorageClass: boolean;
}

export interface ExampleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export interface ExampleFile {
  /** Relative to examples/. */
  readonly file: string;
  readonly needs: Needs;
  readonly objects: readonly ExampleObject[];
}

/** Every example, each after the files that it needs; those of support/ only where one needs them. */
export function readExampleFiles(folder = EXAMPLES): readonly ExampleFile[] {
  const ordered = new Map<string, ExampleFile>();
  const visit = (file: string, asked: readonly string[]): void => {
    if (asked.includes(file)) throw new Error(`examples need each other: ${[...asked, file].join(" → ")}`);
    if (ordered.has(file)) return;
    const example = parseExample(file, readFileSync(join(folder, file), "utf8"));
    for (const needed of example.needs.files) visit(needed, [...asked, file]);
    ordered.set(file, example);
  };
  for (const file of readdirSync(folder).sort()) if (file.endsWith(".yaml")) visit(file, []);
  return [...ordered.values()];
}

export function parseExample(file: string, text: string): ExampleFile {
  const objects = parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`examples/${file}: ${error.message}`, { cause: error });
    const object: unknown = document.toJS();
    if (!isObject(object)) throw new Error(`examples/${file}: a document without apiVersion, kind or metadata.name`);
    return object;
  });
  return { file, needs: parseNeeds(file, text), objects };
}

function parseNeeds(file: string, text: string): Needs {
  const files: string[] = [];
  const nodeLabels: Record<string, string> = {};
  let defaultStorageClass = false;
  for (const [line, kind = "", value = ""] of text.matchAll(/^# needs: (\S+)(?: (.+))?$/gm)) {
    const [key = "", label] = value.split("=");
    if (kind === "file" && value !== "") files.push(value);
    else if (kind === "node-label" && label !== undefined) nodeLabels[key] = label;
    else if (kind === "default-storage-class" && value === "") defaultStorageClass = true;
    else throw new Error(`examples/${file}: nobody knows how to provide "${line}"; examples/README.md lists the forms`);
  }
  return { files, nodeLabels, defaultStorageClass };
}

function isObject(value: unknown): value is ExampleObject {
  if (!isRecord(value) || !isRecord(value["metadata"])) return false;
  return [value["apiVersion"], value["kind"], value["metadata"]["name"]].every((text) => typeof text === "string");
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
