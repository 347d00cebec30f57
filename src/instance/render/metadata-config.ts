// The configuration of the metadata service: one model, two formats (the image tag decides which it reads), and the
// reverse: the account id of an earlier rendering. Credentials never appear in it.
import { parse, stringify } from "yaml";
import { SCHEMA_DEFAULTS } from "../../api/defaults.ts";
import type { Instance, Rendered } from "../model/children.ts";
import {
  type InstanceIdentity,
  METADATA_PORT,
  metadataConfigName,
  POSTGRES_PORT,
  postgresName,
  serviceHost,
} from "../model/names.ts";
import { POSTGRES_DATABASE } from "./credentials-secret.ts";
import { objectMetadata } from "./object-metadata.ts";
import { serialiseXml, xmlText } from "./xml.ts";

export type MetadataConfigFormat = "xml" | "yaml";

export const METADATA_CONFIG_FILE: Readonly<Record<MetadataConfigFormat, string>> = {
  xml: "config.xml",
  yaml: "config.yaml",
};

const ACCOUNT_ID = "default_account_id";

export interface MetadataConfigInput {
  readonly identity: InstanceIdentity;
  readonly spec: Instance["spec"];
  readonly format: MetadataConfigFormat;
}

/** The configuration that the metadata service reads at start. */
export function renderMetadataConfig(input: MetadataConfigInput): string {
  const config = metadataConfig(input);
  switch (input.format) {
    case "xml":
      return serialiseXml("config", config);
    case "yaml":
      // Strings as JSON literals: no value of a user can become another type or another key.
      return stringify(config, { lineWidth: 0, defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN" });
    default:
      return input.format satisfies never;
  }
}

export function renderMetadataConfigMap(input: MetadataConfigInput): Rendered<"ConfigMap"> {
  const { identity, format } = input;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: objectMetadata(identity, "metadata", metadataConfigName(identity.name)),
    data: { [METADATA_CONFIG_FILE[format]]: renderMetadataConfig(input) },
  };
}

/** The account id in a rendered ConfigMap; undefined when it is not found. */
export function accountIdOf(data: Readonly<Record<string, string>> | undefined): string | undefined {
  const xml = data?.[METADATA_CONFIG_FILE.xml];
  const id = xml === undefined ? accountIdInYaml(data?.[METADATA_CONFIG_FILE.yaml]) : xmlText(xml, ACCOUNT_ID);
  return id === "" ? undefined : id;
}

function accountIdInYaml(text: string | undefined): string | undefined {
  try {
    const document: unknown = parse(text ?? "");
    const id = fieldOf(fieldOf(document, "pensieve_lite"), ACCOUNT_ID);
    return typeof id === "string" ? id : undefined;
  } catch {
    // Not YAML any more: another writer changed it, so the id is unknown.
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** The keys are defined by the image, which ignores unknown ones. */
function metadataConfig({ identity, spec }: MetadataConfigInput) {
  return {
    pensieve_lite: {
      [ACCOUNT_ID]: spec.id ?? "",
      host: "0.0.0.0",
      port: METADATA_PORT,
      server_threads: 0,
      log_level: "information",
      metadata_storage: {
        postgresql: {
          ...database(identity, spec),
          keepalive: { enabled: 1, idle_sec: 120, interval_sec: 30, count: 5 },
          connect_timeout_sec: 5,
        },
        garbage_collection: { enabled: true, interval_ms: 3_600_000, time_horizon_sec: 86_400 },
      },
    },
  };
}

function database({ namespace, name }: InstanceIdentity, { metadata: { postgres } }: Instance["spec"]) {
  const { schema: defaultSchema, port: defaultPort } = SCHEMA_DEFAULTS.postgres;
  if (postgres === undefined) {
    const host = serviceHost(namespace, postgresName(name));
    return { host, port: POSTGRES_PORT, database: POSTGRES_DATABASE, schema: defaultSchema };
  }
  const { host, port, database: external, schema } = postgres;
  return { host, port: port || defaultPort, database: external, schema: schema || defaultSchema };
}
