// Admission of engine classes (docs/design/admission.md#rules): the template is the user's to write, and a class that engines still
// name is not deleted. The engines are listed at that moment; when they cannot be, the class stays.
import { isDeepStrictEqual } from "node:util";
import type { OperatorIdentity } from "../api/operator-defaults.ts";
import { validateOwnAccount } from "../podtemplate/own-account.ts";
import { shapedSecrets } from "../podtemplate/protected-secrets.ts";
import { validateSecretReach } from "../podtemplate/secret-reach.ts";
import { validateTemplate } from "../podtemplate/validate-template.ts";
import type { Violation } from "../podtemplate/violation.ts";
import { decodeEngineClass, isBeingDeleted } from "./decode.ts";
import { ignoredFields } from "./ignored-fields.ts";
import { type Judge, lookupFailed, verdictOf } from "./judge.ts";
import type { AdmissionLookups, LookupKey } from "./lookups.ts";
import { ALLOW, denial, type Verdict } from "./review.ts";

const PATH = "spec.template";
const NAMED_AT_MOST = 10;

export function engineClassJudge(lookups: AdmissionLookups, operator?: OperatorIdentity): Judge {
  return async ({ operation, namespace, name, object, oldObject }, signal) => {
    if (operation === "DELETE") return judgeDeletion({ namespace, name }, signal);
    if (operation === "UPDATE" && isBeingDeleted(object)) return ALLOW;
    const template = decodeEngineClass(object).spec?.template;
    // What is stored already is for the controller of the engines to judge.
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

  async function judgeDeletion(key: LookupKey, signal: AbortSignal): Promise<Verdict> {
    const quoted = `FireboltEngineClass ${JSON.stringify(key.name)}`;
    if (key.name === "")
      return denial([{ path: "metadata.name", type: "Required value", detail: "which class?" }], 400);
    try {
      const engines = await lookups.enginesOfClass(key, signal);
      return engines.length === 0 ? ALLOW : denial([stillNamed(quoted, key.namespace, engines)]);
    } catch (error) {
      if (signal.aborted) throw error;
      return denial([lookupFailed("metadata.name", `the engines that name ${quoted}`, error)]);
    }
  }
}

function stillNamed(quoted: string, namespace: string, engines: readonly string[]): Violation {
  const named = engines.slice(0, NAMED_AT_MOST).join(", ");
  const more = engines.length > NAMED_AT_MOST ? `, and ${engines.length - NAMED_AT_MOST} more` : "";
  const count = engines.length === 1 ? "1 engine" : `${engines.length} engines`;
  const detail = `${quoted} in namespace ${JSON.stringify(namespace)} is still referenced by ${count} (${named}${more}): clear spec.engineClassRef there first, or delete them`;
  return { path: "metadata.name", type: "Forbidden", detail };
}
