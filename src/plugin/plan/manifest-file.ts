// The objects of a manifest file: several documents, lists, standard input. Reads and checks their shape, nothing more.
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";
import { CommandError } from "../command-line/exit-codes.ts";

export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string };
}

const STDIN = 0;

export function readManifests(file: string): readonly Manifest[] {
  const shown = file === "-" ? "standard input" : file;
  let text: string;
  try {
    text = readFileSync(file === "-" ? STDIN : file, "utf8");
  } catch (error) {
    throw new CommandError(`${shown} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  const manifests = parseManifests(text, shown);
  if (manifests.length === 0) throw new CommandError(`${shown} holds no objects`);
  return manifests;
}

export function parseManifests(text: string, shown: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0)
      throw new CommandError(`${shown} is not YAML: ${document.errors[0]?.message.split("\n")[0] ?? ""}`);
    const value: unknown = document.toJS();
    return value === null || value === undefined ? [] : expand(value, shown);
  });
}

function expand(value: unknown, shown: string): readonly Manifest[] {
  if (isObject(value) && String(value["kind"]).endsWith("List") && Array.isArray(value["items"]))
    return value["items"].flatMap((item) => expand(item, shown));
  if (!isManifest(value)) throw new CommandError(`${shown}: an object needs apiVersion, kind and metadata.name`);
  return [value];
}

function isManifest(value: unknown): value is Manifest {
  if (!isObject(value) || typeof value["apiVersion"] !== "string" || typeof value["kind"] !== "string") return false;
  const { metadata } = value;
  return isObject(metadata) && typeof metadata["name"] === "string" && metadata["name"] !== "";
}
