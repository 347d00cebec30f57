// Admission of engines (docs/design/admission.md#rules): the class exists, the template sets only what users may set,
// it reaches no Secret of the operator, the resources are within bounds; gateways change nothing but the wake
// annotation. The instance need not exist yet.
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "@firebolt-operator/kube";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { OperatorIdentity } from "../../api/operator-defaults.ts";
import { type ResourceBounds, validateEngine } from "../../engine/model/validate.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { validateOwnAccount } from "../../podtemplate/secrets/own-account.ts";
import { type IsProtected, recordedSecrets, shapedSecrets } from "../../podtemplate/secrets/protected-secrets.ts";
import { validateSecretReach } from "../../podtemplate/secrets/secret-reach.ts";
import { decodeEngine, isBeingDeleted } from "../review/decode.ts";
import { type AdmissionRequest, ALLOW, denial } from "../review/review.ts";
import { fencedChanges, isGatewayAccount } from "./gateway-account.ts";
import { ignoredFields } from "./ignored-fields.ts";
import type { AdmissionLookups } from "./lookups.ts";
import { lookupFailed, type Validator, verdictOf } from "./validator.ts";

export interface EngineValidatorOptions {
  readonly lookups: AdmissionLookups;
  readonly bounds: ResourceBounds;
  readonly logger: Logger;
  /** Absent: the operator's own account and Secrets are unknown. */
  readonly operator?: OperatorIdentity | undefined;
}

const PATH = "spec.template";

export function engineValidator({ lookups, bounds, logger, operator }: EngineValidatorOptions): Validator {
  return async (request, signal) => {
    const { operation, namespace, object } = request;
    const fenced = operation === "UPDATE" && isGatewayAccount(request) ? fencedChanges(request) : [];
    if (fenced.length > 0) return denial(fenced);
    if (operation === "UPDATE" && isBeingDeleted(object)) return ALLOW;
    const engine = decodeEngine(object);
    const [found, reaching] = await Promise.all([
      findClass(engine, namespace, signal),
      reachingSecrets(request, engine, signal),
    ]);
    const { name, template, bounds: exceeded } = validateEngine({ engine, engineClass: found.engineClass, bounds });
    return verdictOf({
      violations: [
        // An existing name cannot be changed; a generateName is not known yet.
        ...(operation === "CREATE" && engine.metadata?.name ? name : []),
        ...found.violations,
        ...template,
        ...validateOwnAccount(engine.spec?.template, PATH, { namespace, operator }),
        ...reaching,
        ...exceeded,
      ],
      warnings: ignoredFields("engine", engine.spec?.template, PATH),
      templates: [engine.spec?.template],
    });
  };

  async function findClass(
    engine: FireboltEngine,
    namespace: string,
    signal: AbortSignal,
  ): Promise<{ readonly engineClass: FireboltEngineClass | undefined; readonly violations: readonly Violation[] }> {
    const name = engine.spec?.engineClassRef;
    if (name === undefined || name === "") return { engineClass: undefined, violations: [] };
    const path = "spec.engineClassRef";
    try {
      const engineClass = await lookups.engineClass({ namespace, name }, signal);
      if (engineClass !== undefined) return { engineClass, violations: [] };
      const detail = `no FireboltEngineClass of this name in namespace ${JSON.stringify(namespace)}`;
      return { engineClass, violations: [{ path, type: "Not found", value: name, detail }] };
    } catch (error) {
      if (signal.aborted) throw error;
      const what = `FireboltEngineClass ${JSON.stringify(name)}`;
      return { engineClass: undefined, violations: [lookupFailed(path, what, error)] };
    }
  }

  /**
   * The controller validates the template of a stored engine: it leaves such volumes out, and the operator's own wake-ups
   * must not be rejected for them. When the instance cannot be read, the controller checks its recorded names as well.
   */
  async function reachingSecrets(
    { namespace, oldObject, operation }: AdmissionRequest,
    engine: FireboltEngine,
    signal: AbortSignal,
  ): Promise<Violation[]> {
    const { template, instanceRef: name } = engine.spec ?? {};
    if (operation === "UPDATE" && isDeepStrictEqual(template, decodeEngine(oldObject).spec?.template)) return [];
    const reaching = (isProtected: IsProtected) => validateSecretReach(template, PATH, isProtected);
    const shaped = shapedSecrets(namespace, operator);
    // Most templates reference no Secret and need no look-up.
    if (name === undefined || name === "" || reaching(() => true).length === 0) return reaching(shaped);
    try {
      const instance = await lookups.instance({ namespace, name }, signal);
      const recorded = instance === undefined ? () => false : recordedSecrets(instance);
      return reaching((secret) => shaped(secret) || recorded(secret));
    } catch (error) {
      if (signal.aborted) throw error;
      logger.error("instance could not be looked up during admission", error, { namespace, name });
      return reaching(shaped);
    }
  }
}
