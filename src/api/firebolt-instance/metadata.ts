// The metadata service of an instance and its PostgreSQL: `spec.metadata`.
import { INSTANCE_DEFAULTS, SCHEMA_DEFAULTS } from "../defaults.ts";
import { boolean, int32, object, required, string } from "../schema/builders.ts";
import { podTemplate } from "../schema/pod-template.ts";
import { localRef } from "../schema/references.ts";
import type { Infer } from "../schema/schema.ts";
import { builtInPostgres } from "./postgres.ts";

const DEFAULTS = SCHEMA_DEFAULTS.postgres;
const SQL_NAME = "^[A-Za-z0-9_.\\-]+$";

const postgres = object(
  {
    host: required(
      string({
        description: "Host name or address.",
        pattern: "^[A-Za-z0-9.\\-:\\[\\]]+$",
        minLength: 1,
        maxLength: 253,
      }),
    ),
    port: int32({ description: "Port. 0 counts as the default.", default: DEFAULTS.port }),
    database: required(
      string({ description: "Name of the database.", pattern: SQL_NAME, minLength: 1, maxLength: 63 }),
    ),
    schema: string({
      description: "Schema inside the database.",
      default: DEFAULTS.schema,
      pattern: SQL_NAME,
      minLength: 1,
      maxLength: 63,
    }),
    credentialsSecretRef: required(localRef("Secret with the keys username and password.")),
  },
  { description: "An external PostgreSQL. Unset means that the operator runs one." },
);

export const instanceMetadata = object(
  {
    replicas: int32({
      description: `Number of metadata pods. Only 1 is possible; unset means ${INSTANCE_DEFAULTS.metadataReplicas}.`,
    }),
    template: podTemplate(
      "Pod overrides of the metadata service, as a fragment of a pod template. The container named metadata is the service itself.",
    ),
    engineRegistration: boolean({ description: "Reserved. Has no effect.", default: false }),
    postgres,
    builtInPostgres,
  },
  {
    description: "The metadata service.",
    rules: [
      {
        rule: "has(self.replicas) ? self.replicas == 1 : true",
        message: "metadata replicas must be 1",
        fieldPath: ".replicas",
      },
      {
        rule: "!(has(self.postgres) && has(self.builtInPostgres))",
        message:
          "cannot be set together with spec.metadata.postgres: with an external database the operator runs none; remove one of the two",
        fieldPath: ".builtInPostgres",
      },
    ],
  },
);
export type InstanceMetadata = Infer<typeof instanceMetadata>;
