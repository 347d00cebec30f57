// What admission says about the settings of the built-in PostgreSQL. Whether they fit the volume that exists is the controller's to see
// (storage.ts); what can be told from the two versions of the spec is told before it is stored.
import { BUILT_IN_POSTGRES } from "../../api/defaults.ts";
import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import type { Violation } from "../../podtemplate/violation.ts";
import type { Instance } from "../children.ts";

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

/** Only once there is a volume: before that everything can change. */
export function validateVolumeChange({ spec }: Instance, { spec: before, status }: Instance): Violation[] {
  if (status?.builtInPostgres === undefined || spec.metadata.postgres !== undefined) return [];
  const [now, then] = [spec.metadata.builtInPostgres?.storage, before.metadata.builtInPostgres?.storage];
  const [size, former] = [now?.size, then?.size ?? BUILT_IN_POSTGRES.size];
  const found: Violation[] = [];
  if (size !== undefined && size !== then?.size && (compareQuantities(size, former) ?? 0) < 0)
    found.push(invalid(`${PATH}.storage.size`, size, `a volume cannot shrink: it was made or grown to ${former}`));
  const [wanted, formerClass] = [now?.storageClassName, then?.storageClassName];
  if (wanted !== undefined && formerClass !== undefined && wanted !== formerClass)
    found.push(
      invalid(
        `${PATH}.storage.storageClassName`,
        wanted,
        `cannot change from ${JSON.stringify(formerClass)} once the volume exists: move the catalogue by a backup and a restore`,
      ),
    );
  return found;
}

function invalid(path: string, value: unknown, detail: string): Violation {
  return { path, type: "Invalid value", value, detail };
}
