// Admission of engines (api §8.2): the class exists, the template is the user's to write, no Secret of the operator is in reach,
// the resources are within bounds; gateways change nothing but their stamp. The instance need not exist yet.
import type { FireboltEngine } from "../api/engine.ts";
import type { FireboltEngineClass } from "../api/engine-class.ts";
import { type ResourceBounds, validateEngine } from "../engine/validate.ts";
import type { Logger } from "../kube/logger.ts";
import { recordedSecrets } from "../podtemplate/protected-secrets.ts";
import { validateSecretReach } from "../podtemplate/secret-reach.ts";
import type { Violation } from "../podtemplate/violation.ts";
import { decodeEngine, isBeingDeleted } from "./decode.ts";
import { fencedChanges, isGatewayAccount } from "./gateway-account.ts";
import { ignoredFields } from "./ignored-fields.ts";
import { type Judge, lookupFailed, verdictOf } from "./judge.ts";
import type { AdmissionLookups } from "./lookups.ts";
import { ALLOW, denial } from "./review.ts";

export interface EngineJudgeOptions {
  readonly lookups: AdmissionLookups;
  readonly bounds: ResourceBounds;
  readonly logger: Logger;
}

const PATH = "spec.template";

export function engineJudge({ lookups, bounds, logger }: EngineJudgeOptions): Judge {
  return async (request, signal) => {
    const { operation, namespace, object } = request;
    const fenced = operation === "UPDATE" && isGatewayAccount(request) ? fencedChanges(request) : [];
    if (fenced.length > 0) return denial(fenced);
    if (operation === "UPDATE" && isBeingDeleted(object)) return ALLOW;
    const engine = decodeEngine(object);
    const [found, reaching] = await Promise.all([
      findClass(engine, namespace, signal),
      reachingSecrets(engine, namespace, signal),
    ]);
    const { name, template, bounds: exceeded } = validateEngine({ engine, engineClass: found.engineClass, bounds });
    return verdictOf({
      violations: [
        // A name that is stored can only be left behind, not mended; one that is still to be made up cannot be judged.
        ...(operation === "CREATE" && engine.metadata?.name ? name : []),
        ...found.violations,
        ...template,
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

  /** When the instance cannot be read the question is left open here: the controller asks it again. */
  async function reachingSecrets(engine: FireboltEngine, namespace: string, signal: AbortSignal): Promise<Violation[]> {
    const { template, instanceRef: name } = engine.spec ?? {};
    const reaching = (isProtected: (secret: string) => boolean) => validateSecretReach(template, PATH, isProtected);
    // Most templates reach no Secret at all: they cost no look-up.
    if (name === undefined || name === "" || reaching(() => true).length === 0) return [];
    try {
      const instance = await lookups.instance({ namespace, name }, signal);
      return instance === undefined ? [] : reaching(recordedSecrets(instance));
    } catch (error) {
      if (signal.aborted) throw error;
      logger.error("instance could not be looked up during admission", error, { namespace, name });
      return [];
    }
  }
}
