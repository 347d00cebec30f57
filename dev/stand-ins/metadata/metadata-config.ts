// The metadata service's configuration, in either of its two formats. The real service ignores misspelt keys silently; this one
// refuses everything but the exact tree, so that a rendering mistake is seen.
import { parse } from "yaml";
import { parseXml, type XmlElement } from "./xml-document.ts";

export type ConfigFormat = "xml" | "yaml";

export interface MetadataConfig {
  readonly format: ConfigFormat;
  readonly accountId: string;
  readonly host: string;
  readonly port: number;
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly schema: string;
    readonly connectTimeoutMs: number;
  };
}

const POSTGRESQL = "pensieve_lite.metadata_storage.postgresql";
const GARBAGE_COLLECTION = "pensieve_lite.metadata_storage.garbage_collection";

/** Every key there is; a text is the only value it may have. */
const KEYS: Readonly<Record<string, string | undefined>> = {
  "pensieve_lite.default_account_id": undefined,
  "pensieve_lite.host": undefined,
  "pensieve_lite.port": undefined,
  "pensieve_lite.server_threads": "0",
  "pensieve_lite.log_level": "information",
  [`${POSTGRESQL}.host`]: undefined,
  [`${POSTGRESQL}.port`]: undefined,
  [`${POSTGRESQL}.database`]: undefined,
  [`${POSTGRESQL}.schema`]: undefined,
  [`${POSTGRESQL}.keepalive.enabled`]: "1",
  [`${POSTGRESQL}.keepalive.idle_sec`]: "120",
  [`${POSTGRESQL}.keepalive.interval_sec`]: "30",
  [`${POSTGRESQL}.keepalive.count`]: "5",
  [`${POSTGRESQL}.connect_timeout_sec`]: "5",
  [`${GARBAGE_COLLECTION}.enabled`]: "true",
  [`${GARBAGE_COLLECTION}.interval_ms`]: "3600000",
  [`${GARBAGE_COLLECTION}.time_horizon_sec`]: "86400",
};

export function parseMetadataConfig(source: string): MetadataConfig {
  const format = source.trimStart().startsWith("<") ? "xml" : "yaml";
  const values = new Map(format === "xml" ? xmlLeaves(parseXml(source)) : yamlLeaves(parse(source), ""));
  for (const key of values.keys()) if (!(key in KEYS)) throw new Error(`unknown key ${key}`);
  const value = (key: string): string => {
    const found = values.get(key);
    if (found === undefined || found === "") throw new Error(`${key} is missing or empty`);
    return found;
  };
  for (const [key, only] of Object.entries(KEYS))
    if (only !== undefined && value(key) !== only) throw new Error(`${key} is ${value(key)}, not ${only}`);
  return {
    format,
    accountId: value("pensieve_lite.default_account_id"),
    host: value("pensieve_lite.host"),
    port: port(value("pensieve_lite.port")),
    postgres: {
      host: value(`${POSTGRESQL}.host`),
      port: port(value(`${POSTGRESQL}.port`)),
      database: value(`${POSTGRESQL}.database`),
      schema: value(`${POSTGRESQL}.schema`),
      connectTimeoutMs: Number(value(`${POSTGRESQL}.connect_timeout_sec`)) * 1_000,
    },
  };
}

function port(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) throw new Error(`${text} is not a port`);
  return number;
}

type Leaf = readonly [path: string, value: string];

function xmlLeaves(root: XmlElement): readonly Leaf[] {
  if (root.name !== "config") throw new Error(`the root element is <${root.name}>, not <config>`);
  return root.children.flatMap((child) => elementLeaves(child, child.name));
}

function elementLeaves(element: XmlElement, path: string): readonly Leaf[] {
  if (element.children.length === 0) return [[path, element.text.trim()]];
  if (element.text.trim() !== "") throw new Error(`${path} holds both text and elements`);
  return element.children.flatMap((child) => elementLeaves(child, `${path}.${child.name}`));
}

function yamlLeaves(value: unknown, path: string): readonly Leaf[] {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return Object.entries(value).flatMap(([key, child]) => yamlLeaves(child, path === "" ? key : `${path}.${key}`));
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return [[path, String(value)]];
  throw new Error(`${path === "" ? "the document" : path} is neither a mapping nor a value`);
}
