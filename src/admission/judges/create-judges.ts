// One judge per webhook. src/operator calls this; tests may replace single judges.
import { randomBytes } from "node:crypto";
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { OperatorIdentity } from "../../api/operator-defaults.ts";
import type { ResourceBounds } from "../../engine/model/validate.ts";
import type { HookId } from "../registration/hooks.ts";
import type { Judge } from "./judge.ts";
import { engineJudge } from "./judge-engine.ts";
import { engineClassJudge } from "./judge-engine-class.ts";
import { instanceJudge, instanceMutator } from "./judge-instance.ts";
import type { AdmissionLookups } from "./lookups.ts";

export interface JudgesOptions {
  readonly lookups: AdmissionLookups;
  readonly bounds: ResourceBounds;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The operator's own account and Secrets; absent where they are unknown. */
  readonly operator?: OperatorIdentity | undefined;
}

export function createJudges({
  lookups,
  bounds,
  clock,
  logger,
  operator,
}: JudgesOptions): Readonly<Record<HookId, Judge>> {
  return {
    "mutate-instance": instanceMutator({ now: () => clock.now(), randomBytes }, lookups),
    "validate-instance": instanceJudge(operator, lookups),
    "validate-engine": engineJudge({ lookups, bounds, logger, operator }),
    "validate-engine-class": engineClassJudge(lookups, operator),
  };
}
