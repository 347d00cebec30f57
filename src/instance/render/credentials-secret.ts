// The Secret of the internal PostgreSQL: created once, then only verified. Its content must never be logged, compared
// in messages or written again.
import type { V1Secret } from "../../api/generated/kubernetes.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { Secret } from "../model/children.ts";
import { credentialsSecretName, type InstanceIdentity } from "../model/names.ts";
import { objectMetadata } from "./object-metadata.ts";

export const POSTGRES_USER = "firebolt";
export const POSTGRES_DATABASE = "firebolt_metadata";
export const PASSWORD_BYTES = 12;

export const SECRET_TYPE = "Opaque";
const encode = (text: string): string => Buffer.from(text, "utf8").toString("base64");
const decode = (base64: string | undefined): string => Buffer.from(base64 ?? "", "base64").toString("utf8");

/**
 * `retainedFor` is the account id of an instance whose Secret survives it; with an owner it would be garbage collected.
 */
export function renderCredentialsSecret(
  instance: InstanceIdentity,
  password: string,
  retainedFor: string | undefined,
): V1Secret {
  const { ownerReferences, ...metadata } = objectMetadata(instance, "postgres", credentialsSecretName(instance.name));
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata:
      retainedFor === undefined
        ? { ...metadata, ...(ownerReferences === undefined ? {} : { ownerReferences }) }
        : { ...metadata, annotations: { [ANNOTATION.accountId]: retainedFor } },
    type: SECRET_TYPE,
    data: { username: encode(POSTGRES_USER), password: encode(password), database: encode(POSTGRES_DATABASE) },
  };
}

/**
 * The problem of an existing Secret; undefined when the database was created with it. Names keys, never values.
 */
export function internalSecretProblem(secret: Secret): string | undefined {
  if (secret.type !== SECRET_TYPE) return `is of type ${JSON.stringify(secret.type ?? "")}, not ${SECRET_TYPE}`;
  const missing = missingKeys(secret, ["username", "password", "database"]);
  if (missing !== undefined) return missing;
  if (decode(secret.data?.["username"]) !== POSTGRES_USER) return `names a user other than ${POSTGRES_USER}`;
  if (decode(secret.data?.["database"]) !== POSTGRES_DATABASE)
    return `names a database other than ${POSTGRES_DATABASE}`;
  return undefined;
}

/** The problem of the Secret of an external database. */
export function externalSecretProblem(secret: Secret): string | undefined {
  return missingKeys(secret, ["username", "password"]);
}

function missingKeys({ data }: Secret, keys: readonly string[]): string | undefined {
  const missing = keys.filter((key) => decode(data?.[key]) === "");
  return missing.length === 0 ? undefined : `has no value for ${missing.join(" and ")}`;
}
