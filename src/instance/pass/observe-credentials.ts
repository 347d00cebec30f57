// Observes the Secret with which the metadata service logs in to its database. Contents of Secrets are neither cached
// nor watched. One is read for a new spec, in a new process, while metadata does not serve and, if the operator created
// it, when its metadata changed. An idle instance costs no request with the built-in database, and one per minute with
// an external one.

import { ANNOTATION } from "../../api/labels.ts";
import { withNextStep } from "../../api/next-step.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { isServing } from "../compute/readiness.ts";
import { readClaimView, type SeenClaim } from "../database/observe-claim.ts";
import type { Instance } from "../model/children.ts";
import type { InstanceMemory } from "../model/memory.ts";
import {
  claimName,
  componentLabels,
  credentialsSecretName,
  type InstanceIdentity,
  metadataName,
  postgresName,
} from "../model/names.ts";
import { type ClaimView, type Credentials, childOf, type InstanceSnapshot } from "../model/snapshot.ts";
import {
  externalSecretProblem,
  internalSecretProblem,
  POSTGRES_DATABASE,
  POSTGRES_USER,
  SECRET_TYPE,
} from "../render/credentials-secret.ts";
import { databaseSecretName } from "../render/metadata.ts";

/** While metadata starts, its Deployment changes often; the Secret need not be read each time. */
const TRUSTED_MS = 10_000;
/** A Secret that is deleted or emptied while metadata serves is noticed within this time and one recheck. */
const EXTERNAL_TRUSTED_MS = 60_000;

export interface CredentialsInput {
  readonly instance: Instance;
  readonly identity: InstanceIdentity;
  readonly children: InstanceSnapshot["children"];
  readonly memory: InstanceMemory;
  readonly nowMs: number;
  readonly seen: SeenClaim;
}

export async function observeCredentials(cluster: InstanceCluster, input: CredentialsInput): Promise<Credentials> {
  const { instance, identity, memory, nowMs } = input;
  const secret = databaseSecretName(identity.name, instance.spec);
  const generation = instance.metadata?.generation ?? 0;
  const external = instance.spec.metadata.postgres !== undefined;
  const version = external
    ? undefined
    : cluster.secretMetadata({ namespace: identity.namespace, name: secret })?.resourceVersion;
  if (isTrusted(input, { secret, generation, version })) return { type: "usable" };
  const found = external
    ? await observeExternal(cluster, identity, secret)
    : await observeInternal(cluster, input, instance.spec.id);
  if (found.type === "usable") memory.credentials = { secret, generation, version, checkedMs: nowMs };
  else delete memory.credentials;
  return found;
}

function isTrusted(
  { instance, identity, children, memory, nowMs }: CredentialsInput,
  { secret, generation, version }: Omit<NonNullable<InstanceMemory["credentials"]>, "checkedMs">,
): boolean {
  const known = memory.credentials;
  if (known?.secret !== secret || known.generation !== generation || known.version !== version) return false;
  const serves = isServing(childOf({ children }, "Deployment", metadataName(identity.name)));
  if (serves && instance.spec.metadata.postgres === undefined) return true;
  const ageMs = nowMs - known.checkedMs;
  return ageMs >= 0 && ageMs < (serves ? EXTERNAL_TRUSTED_MS : TRUSTED_MS);
}

async function observeExternal(
  cluster: InstanceCluster,
  { namespace }: InstanceIdentity,
  name: string,
): Promise<Credentials> {
  const unusable = (message: string): Credentials => ({
    type: "unusable",
    reason: "PostgresSecretPreflightFailed",
    message,
  });
  if (name === "") return unusable("spec.metadata.postgres.credentialsSecretRef names no Secret; set its name");
  const secret = await cluster.readSecret({ namespace, name });
  if (secret === undefined)
    return unusable(`Secret ${name} does not exist; create it with the keys username and password`);
  const problem = externalSecretProblem(secret);
  return problem === undefined ? { type: "usable" } : unusable(`Secret ${name} ${problem}`);
}

async function observeInternal(
  cluster: InstanceCluster,
  { identity, seen }: Pick<CredentialsInput, "identity" | "seen">,
  id: string | undefined,
): Promise<Credentials> {
  const name = credentialsSecretName(identity.name);
  const secret = await cluster.readSecret({ namespace: identity.namespace, name });
  if (secret === undefined)
    return missing(identity, name, seen.isConfirmed ? seen.claim : await readClaimView(cluster, identity));
  if (secret.metadata?.deletionTimestamp !== undefined) return broken(`Secret ${name} is still being deleted`);
  const account = secret.metadata?.annotations?.[ANNOTATION.accountId] || id;
  if (account !== id)
    return broken(
      `Secret ${name} and its database were retained for account ${account}, and spec.id is ${id}: delete the instance and ` +
        `create it with spec.id ${account}, or under another name`,
    );
  const problem = internalSecretProblem(secret);
  // It is never repaired: the database was initialised with its former values.
  if (problem === undefined) return { type: "usable" };
  const isOfOtherType = secret.type !== SECRET_TYPE;
  const first = isOfOtherType
    ? `delete it, since its type cannot change: kubectl delete secret ${name} -n ${identity.namespace}; then `
    : "";
  const next = `${first}restore it from a backup; ${newPasswordText(identity, name)}`;
  return broken(withNextStep(`Secret ${name} ${problem}`, next));
}

/** A new password would lock out every client of data that was created with the old one. */
function missing(identity: InstanceIdentity, secret: string, claim: ClaimView | undefined): Credentials {
  // Without the label it may be an empty volume that was prepared beforehand.
  if (claim?.isLabelled !== true) return { type: "toCreate" };
  const name = claimName(identity.name);
  if (claim.isTerminating) return broken(`PersistentVolumeClaim ${name} is still being deleted`);
  return broken(missingText(identity, secret, name));
}

function missingText(identity: InstanceIdentity, secret: string, claim: string): string {
  return withNextStep(
    `Secret ${secret} is missing, but its database still exists in PersistentVolumeClaim ${claim}; the metadata service cannot start ` +
      "again without it. Deleting the claim instead destroys the catalogue, with every database, table and user of the instance",
    `restore the Secret from a backup; ${newPasswordText(identity, secret)}`,
  );
}

/**
 * Without a backup: inside the pod no password is needed. One command for a Secret that is missing and for one that
 * lacks a key, with the labels by which it is watched. Server-side apply, because the client's apply keeps a copy of
 * the password in an annotation.
 */
function newPasswordText({ namespace, name }: InstanceIdentity, secret: string): string {
  const labels = Object.entries(componentLabels(name, "postgres")).map(([key, value]) => `${key}=${value}`);
  return (
    `without one, write it with a new password: kubectl create secret generic ${secret} -n ${namespace} ` +
    `--from-literal=username=${POSTGRES_USER} --from-literal=database=${POSTGRES_DATABASE} --from-literal=password=NEW ` +
    `--dry-run=client -o yaml | kubectl label --local -f - ${labels.join(" ")} -o yaml | ` +
    "kubectl apply --server-side --force-conflicts -f -; and set that " +
    `in the database: kubectl exec -n ${namespace} ${postgresName(name)}-0 -- psql -U ${POSTGRES_USER} -d ${POSTGRES_DATABASE} ` +
    `-c "ALTER ROLE ${POSTGRES_USER} PASSWORD 'NEW'"`
  );
}

function broken(message: string): Credentials {
  return { type: "unusable", reason: "PostgresEnsureFailed", message };
}
