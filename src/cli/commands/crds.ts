// `crds`: prints the CustomResourceDefinitions that this program was built with, or writes them to a folder. Needs no
// cluster. The schemas are loaded only for this subcommand.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { engineDefinition } from "../../api/firebolt-engine/engine.ts";
import { engineClassDefinition } from "../../api/firebolt-engine/engine-class.ts";
import { instanceDefinition } from "../../api/firebolt-instance/instance.ts";
import { PACKED_POD_TEMPLATE } from "../../api/generated/packed-pod-template.ts";
import { buildCrd, crdFileName, toYaml } from "../../api/schema/crd.ts";
import type { StructuralSchema } from "../../api/schema/schema.ts";
import { describeFlags, type FlagTable, parseFlags } from "../flags/flag-table.ts";
import { print } from "./print.ts";

const CRDS_FLAGS = {
  out: { type: "string", default: "-", help: "folder for one file per kind; -: standard output" },
  help: { type: "boolean", default: "false", help: "print this help and exit" },
} as const satisfies FlagTable;

export const CRDS_USAGE = `usage: firebolt-operator crds [--out FOLDER]

To install them: firebolt-operator crds | kubectl apply --server-side -f -

${describeFlags(CRDS_FLAGS)}`;

const DEFINITIONS = [instanceDefinition, engineDefinition, engineClassDefinition] as const;

export async function runCrds(args: readonly string[]): Promise<number> {
  const { out, help } = parseFlags(CRDS_FLAGS, args);
  if (help) return print(CRDS_USAGE);
  const podTemplate = readPodTemplateSchema();
  const files = DEFINITIONS.map((kind) => ({
    name: crdFileName(kind),
    text: toYaml(buildCrd(kind, podTemplate)),
  }));
  // Client-side apply would store a copy of each in an annotation, which is too small for it.
  if (out === "-") return print(files.map(({ text }) => text.trimEnd()).join("\n---\n"));
  await mkdir(out, { recursive: true });
  for (const { name, text } of files) await writeFile(join(out, name), text);
  return print(files.map(({ name }) => join(out, name)).join("\n"));
}

function readPodTemplateSchema(): StructuralSchema {
  const schema: unknown = JSON.parse(inflateRawSync(Buffer.from(PACKED_POD_TEMPLATE, "base64")).toString("utf8"));
  if (!isSchema(schema)) throw new Error("src/api/generated/packed-pod-template.ts holds no schema");
  return schema;
}

function isSchema(value: unknown): value is StructuralSchema {
  return typeof value === "object" && value !== null && "type" in value && value.type === "object";
}
