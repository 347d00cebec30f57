import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { metadataDocument, toXml } from "../../../test/dev/support/stand-in-metadata.ts";
import { parseMetadataConfig } from "./metadata-config.ts";

const DATABASE = { host: "inst-metadata-pg.ns.svc.cluster.local", port: 5432, database: "firebolt_metadata" };
const document = () => metadataDocument(7000, "01ARZ3NDEKTSV4RRFFQ69G5FAV", DATABASE);

const FORMATS = [
  { format: "xml", write: (value: unknown) => `<?xml version="1.0"?>\n<!-- made by a test -->\n${toXml(value)}\n` },
  { format: "yaml", write: (value: unknown) => stringify(value) },
] as const;

describe.each(FORMATS)("the configuration as $format", ({ format, write }) => {
  test("is understood", () => {
    expect(parseMetadataConfig(write(document()))).toEqual({
      format,
      accountId: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      host: "127.0.0.1",
      port: 7000,
      postgres: { ...DATABASE, schema: "public", connectTimeoutMs: 5_000 },
    });
  });

  test("escaped text is read back", () => {
    const odd = metadataDocument(7000, `a<b>&"c'`, DATABASE);
    expect(parseMetadataConfig(write(odd)).accountId).toBe(`a<b>&"c'`);
  });

  test.each([
    { name: "a missing key", change: { pensieve_lite: { ...document().pensieve_lite, log_level: "" } } },
    { name: "an unknown key", change: { pensieve_lite: { ...document().pensieve_lite, gc: 1 } } },
    { name: "a wrong constant", change: { pensieve_lite: { ...document().pensieve_lite, server_threads: 4 } } },
    { name: "an invalid port", change: { pensieve_lite: { ...document().pensieve_lite, port: 70_000 } } },
  ])("$name is refused", ({ change }) => {
    expect(() => parseMetadataConfig(write(change))).toThrow(/log_level|unknown key|server_threads|not a port/);
  });
});

test.each([
  "<config><a></config>",
  "<other/>",
  "<config>a & b</config>",
  "<config>&nbsp;</config>",
  "<config a='1'/>",
  "<config>",
])("broken XML is refused: %s", (source) => {
  expect(() => parseMetadataConfig(source)).toThrow();
});
