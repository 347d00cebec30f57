// Admission of engine classes (docs/design/admission.md#rules): the template sets only what users may set, and a class
// that engines reference is not deleted. The engines are listed at that moment; when the list fails, the deletion is
// denied.
import { isDeepStrictEqual } from "node:util";
import type { OperatorIdentity } from "../../api/operator-defaults.ts";
import { validateTemplate } from "../../podtemplate/rules/validate-template.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { validateOwnAccount } from "../../podtemplate/secrets/own-account.ts";
import { shapedSecrets } from "../../podtemplate/secrets/protected-secrets.ts";
import { validateSecretReach } from "../../podtemplate/secrets/secret-reach.ts";
import { decodeEngineClass, isBeingDeleted } from "../review/decode.ts";
import { ALLOW, denial, type Verdict } from "../review/review.ts";
import { ignoredFields } from "./ignored-fields.ts";
import type { AdmissionLookups, LookupKey } from "./lookups.ts";
import { lookupFailed, type Validator, verdictOf } from "./validator.ts";

const PATH = "spec.template";
const LISTED_AT_MOST = 10;

export function engineClassValidator(lookups: AdmissionLookups, operator?: OperatorIdentity): Validator {
  return async ({ operation, namespace, name, object, oldObject }, signal) => {
    if (operation === "DELETE") return validateDeletion({ namespace, name }, signal);
    if (operation === "UPDATE" && isBeingDeleted(object)) return ALLOW;
    const template = decodeEngineClass(object).spec?.template;
    // A stored template is validated by the controller of the engines.
    const isNew = operation === "CREATE" || !isDeepStrictEqual(template, decodeEngineClass(oldObject).spec?.template);
    return verdictOf({
      violations: [
        ...validateTemplate("engine", template, PATH),
        ...validateOwnAccount(template, PATH, { namespace, operator }),
        ...(isNew ? validateSecretReach(template, PATH, shapedSecrets(namespace, operator)) : []),
      ],
      warnings: ignoredFields("engine", template, PATH),
      templates: [template],
    });
  };

  async function validateDeletion(key: LookupKey, signal: AbortSignal): Promise<Verdict> {
    const quoted = `FireboltEngineClass ${JSON.stringify(key.name)}`;
    if (key.name === "")
      return denial(
        [
          {
            path: "metadata.name",
            type: "Required value",
            detail: "the request must name the FireboltEngineClass to delete",
          },
        ],
        400,
      );
    try {
      const engines = await lookups.enginesOfClass(key, signal);
      return engines.length === 0 ? ALLOW : denial([stillReferenced(quoted, key.namespace, engines)]);
    } catch (error) {
      if (signal.aborted) throw error;
      return denial([lookupFailed("metadata.name", `the engines that reference ${quoted}`, error)]);
    }
  }
}

function stillReferenced(quoted: string, namespace: string, engines: readonly string[]): Violation {
  const listed = engines.slice(0, LISTED_AT_MOST).join(", ");
  const more = engines.length > LISTED_AT_MOST ? `, and ${engines.length - LISTED_AT_MOST} more` : "";
  const count = engines.length === 1 ? "1 engine" : `${engines.length} engines`;
  const detail = `${quoted} in namespace ${JSON.stringify(namespace)} is still referenced by ${count} (${listed}${more}): clear spec.engineClassRef there first, or delete them`;
  return { path: "metadata.name", type: "Forbidden", detail };
}
