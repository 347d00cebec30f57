// The PostgreSQL that the operator runs for an instance: `spec.metadata.builtInPostgres`. No field has a schema
// default: a stored default would fix the meaning of "unset" forever.
import { BUILT_IN_POSTGRES } from "../defaults.ts";
import { array, enumOf, object, quantity, quantityMap, string } from "../schema/builders.ts";
import { localRef } from "../schema/references.ts";
import type { Infer } from "../schema/schema.ts";

export const VOLUME_RETENTIONS = ["Delete", "Retain"] as const;

const { requests, limits } = BUILT_IN_POSTGRES.resources;

export const builtInPostgres = object(
  {
    resources: object(
      {
        requests: quantityMap({ description: "Guaranteed amount per resource (cpu, memory)." }),
        limits: quantityMap({ description: "Maximum amount per resource (cpu, memory)." }),
      },
      {
        description:
          `Resources of the container, as a whole. Unset means requests of ${requests.cpu} and ${requests.memory}, limits of ` +
          `${limits.cpu} and ${limits.memory}.`,
      },
    ),
    storage: object(
      {
        size: quantity({
          description: `Size of the volume. It can only grow, and only where the storage class allows it. Unset means ${BUILT_IN_POSTGRES.size}.`,
        }),
        storageClassName: string({
          description:
            "Storage class. Unset means the cluster's default. Cannot change once the volume exists: back the catalogue up and restore it instead.",
          maxLength: 253,
        }),
      },
      { description: "The volume that holds the catalogue." },
    ),
    imagePullSecrets: array(localRef("A Secret of type kubernetes.io/dockerconfigjson."), {
      description: "Secrets used to pull the image.",
    }),
    volumeRetention: enumOf(VOLUME_RETENTIONS, {
      description:
        "What happens to the volume and to the Secret with its password when the instance is deleted. Retain keeps both, and an " +
        "instance of the same name reuses them with the same id. Unset means Delete.",
    }),
  },
  { description: "Settings of the PostgreSQL that the operator runs. Not together with postgres." },
);
export type BuiltInPostgres = Infer<typeof builtInPostgres>;
