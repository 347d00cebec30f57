// Whether the volume and the credentials of the built-in PostgreSQL survive the instance, and for which account. Pure.
import type { Instance } from "../model/children.ts";

/** The account id to annotate on retained objects; undefined when they are deleted with the instance. */
export function retainedFor({ metadata, id }: Instance["spec"]): string | undefined {
  const { postgres, builtInPostgres } = metadata;
  return postgres === undefined && builtInPostgres?.volumeRetention === "Retain" ? (id ?? "") : undefined;
}
