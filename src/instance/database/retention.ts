// Whether the volume and the credentials of the built-in PostgreSQL survive the instance, and whose they are then. Pure.
import type { Instance } from "../children.ts";

/** The account id to note on what is retained; undefined when it is deleted with the instance. */
export function retainedFor({ metadata, id }: Instance["spec"]): string | undefined {
  const { postgres, builtInPostgres } = metadata;
  return postgres === undefined && builtInPostgres?.volumeRetention === "Retain" ? (id ?? "") : undefined;
}
