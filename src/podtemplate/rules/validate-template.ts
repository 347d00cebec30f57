// Validates user pod templates: lists every field that template-rules.ts forbids. Admission and controllers call the
// same function, so they agree. Takes the template as untyped JSON: its metadata has no schema.
import { RESERVED_KEY_PREFIX } from "../../api/labels.ts";
import { isOperatorAccount, isOperatorClaim } from "../secrets/operator-objects.ts";
import { isObject, type JsonObject } from "../shapes/shape.ts";
import {
  COMPONENT_RULES,
  type ComponentRules,
  FORBIDDEN_METADATA,
  FORBIDDEN_POD_SPEC,
  type ForbiddenField,
  type TemplateComponent,
} from "./template-rules.ts";
import type { Violation } from "./violation.ts";

/** Every violation in `template`, in the order of the manifest's own structure. `path` is where the template is. */
export function validateTemplate(component: TemplateComponent, template: unknown, path: string): Violation[] {
  if (!isObject(template)) return [];
  const { metadata, spec } = template;
  return [
    ...(isObject(metadata) ? validateMetadata(metadata, `${path}.metadata`) : []),
    ...(isObject(spec) ? validatePodSpec(COMPONENT_RULES[component], spec, `${path}.spec`) : []),
  ];
}

function validateMetadata(metadata: JsonObject, path: string): Violation[] {
  return [
    ...refusedFields(FORBIDDEN_METADATA, metadata, path),
    ...validateKeys(metadata["labels"], `${path}.labels`),
    ...validateKeys(metadata["annotations"], `${path}.annotations`),
  ];
}

/**
 * Labels or annotations: reserved keys are forbidden, values must be strings. Reported by key, in alphabetical order.
 */
function validateKeys(map: unknown, path: string): Violation[] {
  if (map === undefined || map === null) return [];
  if (!isObject(map)) return [{ path, type: "Invalid value", value: map, detail: "must be a map of strings" }];
  const violations: Violation[] = [];
  for (const key of Object.keys(map).sort()) {
    const entry = `${path}[${key}]`;
    if (key.startsWith(RESERVED_KEY_PREFIX)) {
      violations.push(forbidden(entry, `keys with the prefix ${RESERVED_KEY_PREFIX} are reserved for the operator`));
    }
    if (typeof map[key] !== "string") {
      violations.push({ path: entry, type: "Invalid value", value: map[key], detail: "must be a string" });
    }
  }
  return violations;
}

function validatePodSpec(rules: ComponentRules, spec: JsonObject, path: string): Violation[] {
  const violations = [...refusedFields(FORBIDDEN_POD_SPEC, spec, path), ...operatorObjects(rules, spec, path)];
  let primarySeen = false;
  entriesOf(spec["containers"]).forEach((container, index) => {
    const at = `${path}.containers[${index}]`;
    if (container["name"] !== rules.primary) {
      violations.push(...validateExtra(rules, container, at));
    } else if (primarySeen) {
      violations.push({ path: `${at}.name`, type: "Duplicate value", value: rules.primary, detail: "" });
    } else {
      primarySeen = true;
      violations.push(...validatePrimary(rules, container, at));
    }
  });
  entriesOf(spec["initContainers"]).forEach((container, index) => {
    const at = `${path}.initContainers[${index}]`;
    if (container["name"] === rules.primary) {
      violations.push(forbidden(`${at}.name`, `collides with the ${rules.primary} container; choose another name`));
    }
    violations.push(...validateExtra(rules, container, at));
  });
  return violations;
}

/** The claims of the operator's databases and the accounts of its gateways. */
function operatorObjects({ refusesGatewayAccounts }: ComponentRules, spec: JsonObject, path: string): Violation[] {
  const { serviceAccountName: account } = spec;
  const violations: Violation[] = [];
  if (refusesGatewayAccounts && typeof account === "string" && isOperatorAccount(account)) {
    violations.push(
      forbidden(
        `${path}.serviceAccountName`,
        `${JSON.stringify(account)} is the service account of a gateway, which can change engines: use one whose name does ` +
          "not end in -gateway",
      ),
    );
  }
  entriesOf(spec["volumes"]).forEach((volume, index) => {
    for (const { at, name, remedy } of claimsOfVolume(volume)) {
      if (typeof name !== "string" || !isOperatorClaim(name)) continue;
      violations.push(
        forbidden(
          `${path}.volumes[${index}].${at}`,
          `${JSON.stringify(name)} is the name of the claim of an instance's PostgreSQL, which belongs to the operator: ${remedy}`,
        ),
      );
    }
  });
  return violations;
}

/**
 * The claims that a volume mounts or is filled from. The kind of a data source does not matter: a clone has the data of
 * its claim, and a snapshot that is named after a claim most likely has it too.
 */
function claimsOfVolume({ persistentVolumeClaim, ephemeral }: JsonObject): readonly ClaimUse[] {
  const template = fieldOf(ephemeral, "volumeClaimTemplate");
  const claimSpec = fieldOf(template, "spec");
  return [
    {
      at: "persistentVolumeClaim.claimName",
      name: fieldOf(persistentVolumeClaim, "claimName"),
      remedy: "use another claim",
    },
    ...["dataSource", "dataSourceRef"].map((field) => ({
      at: `ephemeral.volumeClaimTemplate.spec.${field}.name`,
      name: fieldOf(fieldOf(claimSpec, field), "name"),
      remedy: "fill the volume from another source",
    })),
  ];
}

interface ClaimUse {
  /** Below the volume. */
  readonly at: string;
  readonly name: unknown;
  readonly remedy: string;
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function validatePrimary(rules: ComponentRules, container: JsonObject, path: string): Violation[] {
  const violations = refusedFields(rules.refusedOnPrimary, container, path, `of the ${rules.primary} container `);
  // Entries of lists that are forbidden as a whole are not checked.
  if (rules.refusedOnPrimary.some(({ name }) => name === "env")) return violations;
  entriesOf(container["env"]).forEach(({ name }, index) => {
    if (typeof name === "string" && rules.reservedEnv.includes(name)) {
      violations.push(
        forbidden(`${path}.env[${index}].name`, `${name} is injected by the operator; choose another name`),
      );
    }
  });
  entriesOf(container["volumeMounts"]).forEach(({ name, mountPath }, index) => {
    const at = `${path}.volumeMounts[${index}]`;
    if (isReserved(name, rules.reservedVolumes, rules)) {
      violations.push(forbidden(`${at}.name`, `volume name ${JSON.stringify(name)} is reserved for the operator`));
    } else if (typeof mountPath === "string" && rules.reservedMountPaths.includes(mountPath.replace(/\/+$/, ""))) {
      violations.push(forbidden(`${at}.mountPath`, `the operator mounts a volume at ${mountPath} itself`));
    }
  });
  return violations;
}

/** A sidecar or an init container. It may mount volumes without Secrets, e.g. to prepare the data directory. */
function validateExtra(rules: ComponentRules, container: JsonObject, path: string): Violation[] {
  const violations: Violation[] = [];
  const { name } = container;
  if (typeof name === "string" && rules.reservedContainers.includes(name)) {
    violations.push(forbidden(`${path}.name`, `container name ${JSON.stringify(name)} is reserved for the operator`));
  }
  entriesOf(container["volumeMounts"]).forEach((mount, index) => {
    if (isReserved(mount["name"], rules.secretVolumes, rules)) {
      const volume = JSON.stringify(mount["name"]);
      violations.push(
        forbidden(
          `${path}.volumeMounts[${index}].name`,
          `volume ${volume} is Secret-backed and not mountable by extra containers`,
        ),
      );
    }
  });
  return violations;
}

function refusedFields(fields: readonly ForbiddenField[], object: JsonObject, path: string, whose = ""): Violation[] {
  return fields
    .filter(({ name, setWhen }) => isSet(object[name], setWhen))
    .map(({ name, why }) => forbidden(`${path}.${name}`, `${name} ${whose}${why}`));
}

function isSet(value: unknown, setWhen: ForbiddenField["setWhen"]): boolean {
  if (value === undefined || value === null) return false;
  if (setWhen === "pointer") return true;
  return Array.isArray(value) ? value.length > 0 : value !== "" && value !== false && value !== 0;
}

function isReserved(name: unknown, names: readonly string[], { secretVolumePrefixes }: ComponentRules): boolean {
  if (typeof name !== "string") return false;
  return names.includes(name) || secretVolumePrefixes.some((prefix) => name.startsWith(prefix));
}

function entriesOf(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function forbidden(path: string, detail: string): Violation {
  return { path, type: "Forbidden", detail };
}
