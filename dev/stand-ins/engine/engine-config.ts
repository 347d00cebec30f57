// The engine's config.yaml: read, checked against a schema that is closed as the real one is, and turned into what the stand-in
// needs. A rendering mistake must end the process, not pass unseen.
import { createHash } from "node:crypto";
import { parse } from "yaml";
import { goDurationMs } from "../../../src/api/values/go-duration.ts";

export interface EngineConfig {
  /** The whole document, as loaded. */
  readonly document: unknown;
  /** First 16 hexadecimal digits of the SHA-256 of the text. */
  readonly hash: string;
  readonly engineId: string;
  readonly hosts: readonly string[];
  readonly metadataEndpoint: string;
  readonly terminationGraceMs: number;
}

type Section = Readonly<Record<string, unknown>>;

const TOP_LEVEL = [
  "schema_version",
  "instance",
  "engine",
  "endpoints",
  "logging",
  "storage",
  "execution",
  "planner",
  "query_log",
  "otel",
  "data_source_encryption",
];
const NODE_KEYS = [
  "host",
  "health_check_port",
  "prometheus_port",
  "aragog_port",
  "shufflepuff_port",
  "storage_agent_port",
  "storage_manager_port",
];

export function parseEngineConfig(text: string): EngineConfig {
  const document = section(parse(text), "", TOP_LEVEL);
  if (document["schema_version"] !== "1.0")
    throw new Error(`schema_version ${show(document["schema_version"])}: not "1.0"`);
  if (document["endpoints"] !== undefined) throw new Error("endpoints: this stand-in serves no TLS");
  const instance = section(document["instance"], "instance", ["id", "type", "multi_engine"]);
  if (instance["type"] !== "multi_engine") throw new Error(`instance.type ${show(instance["type"])}: not multi_engine`);
  nonEmptyText(instance["id"], "instance.id");
  const multiEngine = section(instance["multi_engine"], "instance.multi_engine", ["metadata_endpoint"]);
  const engine = section(document["engine"], "engine", ["id", "nodes", "termination_grace_period"]);
  if (document["logging"] !== undefined) section(document["logging"], "logging", ["format", "level"]);
  const grace = nonEmptyText(engine["termination_grace_period"], "engine.termination_grace_period");
  const terminationGraceMs = goDurationMs(grace);
  if (terminationGraceMs === undefined)
    throw new Error(`engine.termination_grace_period ${show(grace)}: not a duration`);
  return {
    document,
    hash: createHash("sha256").update(text).digest("hex").slice(0, 16),
    engineId: nonEmptyText(engine["id"], "engine.id"),
    hosts: hostsOf(engine["nodes"]),
    metadataEndpoint: nonEmptyText(multiEngine["metadata_endpoint"], "instance.multi_engine.metadata_endpoint"),
    terminationGraceMs,
  };
}

/** The list assigns nodes to pods: a pod at another index would serve as another node. */
export function checkOwnNode(config: EngineConfig, nodeIndex: number, podName: string): void {
  const host = config.hosts[nodeIndex];
  if (host === undefined) throw new Error(`engine.nodes has no entry ${nodeIndex}`);
  if (host.split(".")[0] !== podName)
    throw new Error(`engine.nodes[${nodeIndex}].host ${show(host)} does not begin with this pod's name, ${podName}`);
}

function hostsOf(nodes: unknown): readonly string[] {
  if (!Array.isArray(nodes)) throw new Error("engine.nodes: not a list");
  return nodes.map((node: unknown, index) => {
    const path = `engine.nodes[${index}]`;
    return nonEmptyText(section(node, path, NODE_KEYS)["host"], `${path}.host`);
  });
}

function section(value: unknown, path: string, known: readonly string[]): Section {
  if (!isSection(value)) throw new Error(`${path === "" ? "the document" : path}: missing or not a mapping`);
  for (const key of Object.keys(value))
    if (!known.includes(key)) throw new Error(`unknown key ${path === "" ? key : `${path}.${key}`}`);
  return value;
}

const isSection = (value: unknown): value is Section =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function nonEmptyText(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "") throw new Error(`${path}: missing or not a string`);
  return value;
}

const show = (value: unknown): string => JSON.stringify(value) ?? "undefined";
