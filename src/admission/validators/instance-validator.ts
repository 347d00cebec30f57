// Admission of instances (docs/design/admission.md#rules): a new instance without an id gets one, and every rule of the
// spec is checked. The patch sets the id and nothing else, so that manifests are stored as they were written.
import { isDeepStrictEqual } from "node:util";
import { ANNOTATION } from "../../api/labels.ts";
import type { OperatorIdentity } from "../../api/operator-defaults.ts";
import type { Instance } from "../../instance/model/children.ts";
import { makeUlid, ULID_RANDOM_BYTES } from "../../instance/model/ulid.ts";
import { type ClaimSize, shrunkSize, validateShrinking } from "../../instance/validate/validate-built-in.ts";
import { validateInstanceName } from "../../instance/validate/validate-name.ts";
import { validateInstanceSpec } from "../../instance/validate/validate-spec.ts";
import { validateOwnAccount } from "../../podtemplate/secrets/own-account.ts";
import { shapedSecrets } from "../../podtemplate/secrets/protected-secrets.ts";
import { validateSecretReach } from "../../podtemplate/secrets/secret-reach.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { decodeInstance, isBeingDeleted } from "../review/decode.ts";
import { ALLOW } from "../review/review.ts";
import { ignoredFields } from "./ignored-fields.ts";
import type { AdmissionLookups } from "./lookups.ts";
import { type Findings, type Validator, verdictOf } from "./validator.ts";

export interface IdSource {
  now(): number;
  randomBytes(count: number): Uint8Array;
}

/** `lookups` absent: the controller finds retained volumes. */
export function instanceMutator(source: IdSource, lookups?: Pick<AdmissionLookups, "retainedId">): Validator {
  return async ({ object, namespace, name }, signal) => {
    const spec = object?.["spec"];
    // Without a spec there is no place for an id; the schema rejects the object next.
    if (!isObject(spec) || !isUnset(spec["id"])) return ALLOW;
    let retained: string | undefined;
    try {
      retained = name === "" ? undefined : await lookups?.retainedId({ namespace, name }, signal);
    } catch (error) {
      // A new id would separate the instance from a volume that it reuses: the controller looks up the id again.
      return {
        type: "allow",
        warnings: [`the webhook could not look up a retained id, so the controller sets spec.id: ${String(error)}`],
      };
    }
    const value = retained || makeUlid(source.now(), source.randomBytes(ULID_RANDOM_BYTES));
    return { type: "allow", warnings: [], patch: [{ op: "add", path: "/spec/id", value }] };
  };
}

const COMPONENTS = ["metadata", "gateway"] as const;

const isUnset = (id: unknown): boolean => id === undefined || id === null || id === "";

/** `lookups` absent: the controller checks whether a volume can be this small, and no engine is looked up. */
export function instanceValidator(
  operator?: OperatorIdentity,
  lookups?: Pick<AdmissionLookups, "claimSize" | "engineExists">,
): Validator {
  return async ({ operation, namespace, name, object, oldObject }, signal) => {
    if (operation === "UPDATE" && isBeingDeleted(object)) return ALLOW;
    const instance = decodeInstance(object);
    const { metadata, gateway } = instance.spec;
    // An instance that was stored without a spec, by an older schema, has no field that must not change.
    const before = operation === "UPDATE" && isObject(oldObject?.["spec"]) ? decodeInstance(oldObject) : undefined;
    const shrinking = await judgeShrinking(instance, before, () => lookups?.claimSize({ namespace, name }, signal));
    const missing = await defaultEngineWarning(instance, before, (engine) =>
      lookups?.engineExists({ namespace, name: engine }, signal),
    );
    return verdictOf({
      violations: [
        // An existing name cannot be changed; a generateName is not known yet.
        ...(operation === "CREATE" && instance.metadata?.name ? validateInstanceName(instance) : []),
        ...validateInstanceSpec(instance, before),
        ...shrinking.violations,
        ...COMPONENTS.flatMap((component) => {
          const [path, template] = [`spec.${component}.template`, instance.spec[component].template];
          return [
            ...validateOwnAccount(template, path, { namespace, operator }),
            // A stored template is validated by the controller.
            ...(before !== undefined && isDeepStrictEqual(template, before.spec[component].template)
              ? []
              : validateSecretReach(template, path, shapedSecrets(namespace, operator))),
          ];
        }),
      ],
      warnings: [
        ...shrinking.warnings,
        ...missing,
        ...consentWarning(instance),
        ...ignoredFields("metadata", metadata.template, "spec.metadata.template"),
        ...ignoredFields("gateway", gateway.template, "spec.gateway.template"),
      ],
      templates: [metadata.template, gateway.template],
    });
  };
}

/** The claim decides, not the size that was requested before: that may never have been granted. */
async function judgeShrinking(
  instance: Instance,
  before: Instance | undefined,
  readClaim: () => Promise<ClaimSize | undefined> | undefined,
): Promise<Pick<Findings, "violations" | "warnings">> {
  const size = before === undefined ? undefined : shrunkSize(instance, before);
  if (size === undefined) return { violations: [], warnings: [] };
  try {
    const claim = await readClaim();
    return { violations: claim === undefined ? [] : validateShrinking(size, claim), warnings: [] };
  } catch (error) {
    const path = "spec.metadata.builtInPostgres.storage.size";
    return {
      violations: [],
      warnings: [`${path} could not be compared with the claim; the controller will do it: ${String(error)}`],
    };
  }
}

/** Not a rejection: instances are created before their engines. Only a new value is looked up. */
async function defaultEngineWarning(
  { spec }: Instance,
  before: Instance | undefined,
  exists: (engine: string) => Promise<boolean> | undefined,
): Promise<readonly string[]> {
  const { defaultEngine: engine } = spec.gateway;
  const path = "spec.gateway.defaultEngine";
  if (engine === undefined || engine === "" || engine === before?.spec.gateway.defaultEngine) return [];
  try {
    return (await exists(engine)) === false
      ? [
          `${path}: there is no FireboltEngine ${JSON.stringify(engine)} in this namespace yet; until it is created, queries that name no engine fail`,
        ]
      : [];
  } catch (error) {
    return [`${path} could not be looked up: ${String(error)}`];
  }
}

/** The value "true" has no effect: a consent names the one loss that it accepts. */
function consentWarning({ metadata }: Instance): readonly string[] {
  const key = ANNOTATION.acceptEmptyCatalogue;
  return metadata?.annotations?.[key] === "true"
    ? [
        `metadata.annotations[${key}]: "true" has no effect: use the value in the message of the condition MetadataReady`,
      ]
    : [];
}
