import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  accountIdOf,
  type MetadataConfigFormat,
  renderMetadataConfig,
  renderMetadataConfigMap,
} from "./metadata-config.ts";

const identity = { namespace: "analytics", name: "lakeside", uid: "u" };
const spec = (id: string, postgres?: object) =>
  ({
    id,
    metadataNG: false,
    metadata: { engineRegistration: false, ...(postgres === undefined ? {} : { postgres }) },
    gateway: { metricsPort: 9090 },
  }) as never;
const external = {
  host: "db.example.com",
  port: 0,
  database: "meta",
  schema: "",
  credentialsSecretRef: { name: "db" },
};
const render = (format: MetadataConfigFormat, id = "01ABC", postgres?: object) =>
  renderMetadataConfig({ identity, spec: spec(id, postgres), format });

describe("the metadata configuration", () => {
  test("XML", () => expect(render("xml")).toMatchFileSnapshot("metadata-config.golden.xml"));
  test("YAML", () => expect(render("yaml")).toMatchFileSnapshot("metadata-config.golden.yaml"));

  test("metadata-config-xml: both formats contain the same", () => {
    const { pensieve_lite: config } = parse(render("yaml"));
    const xml = render("xml");
    expect(xml).toContain(`<default_account_id>${config.default_account_id}</default_account_id>`);
    expect(xml).toContain(`<host>${config.metadata_storage.postgresql.host}</host>`);
    expect(xml).toContain(`<interval_ms>${config.metadata_storage.garbage_collection.interval_ms}</interval_ms>`);
  });

  test("an external database replaces host, port, database and schema, with their defaults", () => {
    const { postgresql } = parse(render("yaml", "x", external)).pensieve_lite.metadata_storage;
    expect(postgresql).toMatchObject({ host: "db.example.com", port: 5432, database: "meta", schema: "public" });
  });

  test.each(["a<b>&c", "true", "12", '"quoted": x', "a\nb: c", "</default_account_id><host>evil</host>"])(
    "the id %j can only ever be the id",
    (id) => {
      expect(parse(render("yaml", id)).pensieve_lite.default_account_id).toBe(id);
      expect(render("xml", id).match(/<host>/g)).toHaveLength(2);
    },
  );
});

describe("id-never-minted-twice: the id of a rendered configuration", () => {
  test.each(["xml", "yaml"] as const)("is found again in %s", (format) => {
    const { data } = renderMetadataConfigMap({ identity, spec: spec("a&b"), format });
    expect(accountIdOf(data)).toBe("a&b");
  });

  test.each([
    ["no data", undefined],
    ["another file", { "other.txt": "x" }],
    ["a broken file", { "config.yaml": "a: [" }],
    ["an empty id", { "config.xml": "<default_account_id></default_account_id>" }],
    ["an id of another type", { "config.yaml": "pensieve_lite: {default_account_id: 12}" }],
  ])("is not invented from %s", (_, data) => {
    expect(accountIdOf(data)).toBeUndefined();
  });
});
