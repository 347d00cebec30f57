// One validator per webhook. src/operator calls this; tests may replace single validators.
import { randomBytes } from "node:crypto";
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { OperatorIdentity } from "../../api/operator-defaults.ts";
import type { ResourceBounds } from "../../engine/model/validate.ts";
import type { HookId } from "../registration/hooks.ts";
import { engineClassValidator } from "./engine-class-validator.ts";
import { engineValidator } from "./engine-validator.ts";
import { instanceMutator, instanceValidator } from "./instance-validator.ts";
import type { AdmissionLookups } from "./lookups.ts";
import type { Validator } from "./validator.ts";

export interface ValidatorsOptions {
  readonly lookups: AdmissionLookups;
  readonly bounds: ResourceBounds;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The operator's own account and Secrets; absent where they are unknown. */
  readonly operator?: OperatorIdentity | undefined;
}

export function createValidators({
  lookups,
  bounds,
  clock,
  logger,
  operator,
}: ValidatorsOptions): Readonly<Record<HookId, Validator>> {
  return {
    "mutate-instance": instanceMutator({ now: () => clock.now(), randomBytes }, lookups),
    "validate-instance": instanceValidator(operator, lookups),
    "validate-engine": engineValidator({ lookups, bounds, logger, operator }),
    "validate-engine-class": engineClassValidator(lookups, operator),
  };
}
