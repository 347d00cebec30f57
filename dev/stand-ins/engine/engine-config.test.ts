import { expect, test } from "vitest";
import { stringify } from "yaml";
import { checkOwnNode, parseEngineConfig } from "./engine-config.ts";

const VALID = {
  schema_version: "1.0",
  instance: { id: "01ARZ3", type: "multi_engine", multi_engine: { metadata_endpoint: "inst-metadata.ns:7000" } },
  engine: {
    id: "e1",
    nodes: [{ host: "e1-g0-0.e1-g0-hl.ns.svc.cluster.local" }, { host: "e1-g0-1.e1-g0-hl.ns.svc.cluster.local" }],
    termination_grace_period: "55s",
  },
  logging: { format: "json" },
  storage: { managed_table_storage: "s3" },
};

test("a rendered configuration is understood", () => {
  expect(parseEngineConfig(stringify(VALID))).toMatchObject({
    engineId: "e1",
    hosts: VALID.engine.nodes.map((node) => node.host),
    metadataEndpoint: "inst-metadata.ns:7000",
    terminationGraceMs: 55_000,
  });
});

test.each([
  { change: { schema_version: "2.0" }, want: /schema_version/ },
  { change: { schema_version: 1.0 }, want: /schema_version/ },
  { change: { surprise: 1 }, want: /unknown key surprise/ },
  { change: { instance: { ...VALID.instance, name: "x" } }, want: /unknown key instance\.name/ },
  { change: { instance: { ...VALID.instance, type: "single" } }, want: /instance\.type/ },
  { change: { engine: { ...VALID.engine, size: 1 } }, want: /unknown key engine\.size/ },
  { change: { engine: { ...VALID.engine, nodes: [{ host: "" }] } }, want: /engine\.nodes\[0\]\.host/ },
  { change: { engine: { ...VALID.engine, termination_grace_period: "soon" } }, want: /not a duration/ },
  { change: { logging: { colour: true } }, want: /unknown key logging\.colour/ },
  { change: { endpoints: {} }, want: /TLS/ },
])("$want is refused", ({ change, want }) => {
  expect(() => parseEngineConfig(stringify({ ...VALID, ...change }))).toThrow(want);
});

test("a pod serves only the node with its name", () => {
  const config = parseEngineConfig(stringify(VALID));
  expect(() => checkOwnNode(config, 1, "e1-g0-1")).not.toThrow();
  expect(() => checkOwnNode(config, 0, "e1-g0-1")).toThrow(/does not begin/);
  expect(() => checkOwnNode(config, 2, "e1-g0-2")).toThrow(/no entry 2/);
});
