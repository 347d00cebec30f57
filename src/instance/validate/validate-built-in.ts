// Admission rules for the settings of the built-in PostgreSQL. Whether they fit the existing volume is checked by the
// controller (storage.ts); what follows from the two versions of the spec, and from the claim, is rejected before it is
// stored.
import { BUILT_IN_POSTGRES } from "../../api/defaults.ts";
import { compareQuantities, compareStored, parseQuantity } from "../../api/values/quantity.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import type { Instance } from "../model/children.ts";

type Metadata = Instance["spec"]["metadata"];

const PATH = "spec.metadata.builtInPostgres";

export function validateBuiltIn({ postgres, builtInPostgres }: Metadata): Violation[] {
  if (builtInPostgres === undefined) return [];
  const { storage, imagePullSecrets = [], resources } = builtInPostgres;
  const found: Violation[] = [];
  if (postgres !== undefined)
    found.push({
      path: PATH,
      type: "Forbidden",
      detail: "cannot be set together with spec.metadata.postgres: with an external database the operator runs none",
    });
  if (storage?.size !== undefined && (parseQuantity(storage.size) ?? 0n) <= 0n)
    found.push(invalid(`${PATH}.storage.size`, storage.size, "must be a quantity above zero, such as 20Gi"));
  found.push(...validateNames({ builtInPostgres }));
  imagePullSecrets.forEach(({ name }, index) => {
    if (name === "")
      found.push({
        path: `${PATH}.imagePullSecrets[${index}].name`,
        type: "Required value",
        detail: "name a Secret of type kubernetes.io/dockerconfigjson",
      });
  });
  for (const [resource, request] of Object.entries(resources?.requests ?? {})) {
    const limit = resources?.limits?.[resource];
    if (limit !== undefined && (compareQuantities(request, limit) ?? 0) > 0)
      found.push(invalid(`${PATH}.resources.requests.${resource}`, request, `must not be above the limit, ${limit}`));
  }
  return found;
}

const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** Resources of a container; every other one is an extended resource, with a domain. */
const CONTAINER_RESOURCE = /^(?:cpu|memory|ephemeral-storage|hugepages-.+|[^/]+\/[^/]+)$/;

/**
 * Names that no cluster accepts. The controller checks them too: without webhooks they would end in an object that is
 * never created.
 */
export function validateNames({ builtInPostgres }: Pick<Metadata, "builtInPostgres">): Violation[] {
  const { storage, resources } = builtInPostgres ?? {};
  const { storageClassName = "" } = storage ?? {};
  const found: Violation[] = [];
  if (storageClassName !== "" && !SUBDOMAIN.test(storageClassName))
    found.push(
      invalid(
        `${PATH}.storage.storageClassName`,
        storageClassName,
        "is not a valid name of a StorageClass (lower-case letters, digits, '-' and '.'); list them: kubectl get storageclass",
      ),
    );
  for (const block of ["requests", "limits"] as const)
    for (const [resource, amount] of Object.entries(resources?.[block] ?? {}))
      if (!CONTAINER_RESOURCE.test(resource))
        found.push(
          invalid(
            `${PATH}.resources.${block}[${resource}]`,
            amount,
            `${JSON.stringify(resource)} is not a container resource: use cpu, memory, ephemeral-storage, hugepages-<size>, or an ` +
              "extended resource such as example.com/gpu",
          ),
        );
  return found;
}

/** The desired size, if it is smaller than the former one: whether that is possible depends on the claim. */
export function shrunkSize({ spec }: Instance, { spec: before, status }: Instance): string | number | undefined {
  if (status?.builtInPostgres === undefined || spec.metadata.postgres !== undefined) return undefined;
  const [size, former] = [
    spec.metadata.builtInPostgres?.storage?.size,
    before.metadata.builtInPostgres?.storage?.size ?? BUILT_IN_POSTGRES.size,
  ];
  return size !== undefined && (compareStored(size, former) ?? 0) < 0 ? size : undefined;
}

/** A size that was requested and never granted is not the size of the volume. */
export function validateShrinking(size: string | number, claim: ClaimSize): Violation[] {
  return (compareStored(size, claim.size) ?? 0) < 0
    ? [
        invalid(
          `${PATH}.storage.size`,
          size,
          `a volume cannot shrink: PersistentVolumeClaim ${claim.name} has ${claim.size}; set that or more`,
        ),
      ]
    : [];
}

export interface ClaimSize {
  readonly name: string;
  readonly size: string | number | undefined;
}

/** Only once there is a volume: before that everything can be changed. */
export function validateVolumeChange({ spec }: Instance, { spec: before, status }: Instance): Violation[] {
  if (status?.builtInPostgres === undefined || spec.metadata.postgres !== undefined) return [];
  const [now, then] = [spec.metadata.builtInPostgres?.storage, before.metadata.builtInPostgres?.storage];
  const [wanted, formerClass] = [now?.storageClassName, then?.storageClassName];
  if (wanted === undefined || formerClass === undefined || wanted === formerClass) return [];
  return [
    invalid(
      `${PATH}.storage.storageClassName`,
      wanted,
      `cannot change from ${JSON.stringify(formerClass)} once the volume exists: move the catalogue by a backup and a restore`,
    ),
  ];
}

function invalid(path: string, value: unknown, detail: string): Violation {
  return { path, type: "Invalid value", value, detail };
}
