// `render gateway-config -f instance.yaml`: prints the Envoy configuration of an instance, for debugging. Needs no
// cluster.
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { API_VERSION, INSTANCE_NAMES } from "../../api/group.ts";
import { renderGatewayConfigText } from "../../instance/render/gateway.ts";
import { describeFlags, type FlagTable, parseFlags, UsageError } from "../flags/flag-table.ts";
import { print } from "./print.ts";

const RENDER_FLAGS = {
  f: { type: "string", default: "", help: "manifest with one FireboltInstance; - reads standard input" },
  help: { type: "boolean", default: "false", help: "print this help and exit" },
} as const satisfies FlagTable;

export const RENDER_USAGE = `usage: firebolt-operator render gateway-config -f FILE\n\n${describeFlags(RENDER_FLAGS)}`;

export async function runRender(args: readonly string[]): Promise<number> {
  const [what = "", ...rest] = args;
  if (what === "--help" || what === "-help") return print(RENDER_USAGE);
  if (what !== "gateway-config") throw new UsageError(`cannot render ${JSON.stringify(what)}: use gateway-config`);
  const flags = parseFlags(RENDER_FLAGS, rest);
  if (flags.help) return print(RENDER_USAGE);
  if (flags.f === "") throw new UsageError("render gateway-config needs a manifest: -f instance.yaml");
  const { metadata, spec } = readInstance(flags.f);
  const { namespace = "default", name = "" } = metadata ?? {};
  return print(renderGatewayConfigText({ namespace, name }, spec).trimEnd());
}

/** The only FireboltInstance of a manifest that may contain other objects. */
function readInstance(file: string): FireboltInstance {
  const text = readFileSync(file === "-" ? 0 : file, "utf8");
  const objects = parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`);
    return document.toJS() as unknown;
  });
  const [instance, another] = objects.filter(isInstance);
  if (instance === undefined) throw new Error(`${file} contains no ${INSTANCE_NAMES.kind} of ${API_VERSION}`);
  if (another !== undefined)
    throw new Error(`${file} contains more than one ${INSTANCE_NAMES.kind}: pass a manifest with one`);
  return instance;
}

function isInstance(value: unknown): value is FireboltInstance {
  return (
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    value.kind === INSTANCE_NAMES.kind &&
    "apiVersion" in value &&
    value.apiVersion === API_VERSION &&
    "spec" in value &&
    typeof value.spec === "object" &&
    value.spec !== null
  );
}
