// What the status shows of an engine: the conditions, and beside them records of what they show, which later passes read
// back. Messages are for people (docs/adr/0029-messages-are-not-state.md). Pure.
import type { EngineStatus } from "../../api/firebolt-engine/status.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";

/** They are written with the conditions that they belong to, and removed with them. */
export const SHOWN_RECORDS = [
  "drainCheckForbidden",
  "scrapeFailure",
  "reconcileFailure",
  "reported",
] as const satisfies readonly (keyof EngineStatus)[];

export type Shown = Pick<EngineStatus, "conditions" | (typeof SHOWN_RECORDS)[number]>;

type Status = DeepReadonly<Partial<EngineStatus>> | undefined;

/** The status without its conditions and without what belongs to them. */
export function withoutShown(status: Status): Omit<Partial<EngineStatus>, keyof Shown> {
  const { conditions: _, drainCheckForbidden: __, scrapeFailure: ___, reconcileFailure: ____, ...rest } = status ?? {};
  const { reported: _____, ...kept } = rest;
  return kept;
}

export function shownOf(status: Status): DeepReadonly<Shown> {
  const { conditions, drainCheckForbidden, scrapeFailure, reconcileFailure, reported } = status ?? {};
  return {
    ...(conditions === undefined ? {} : { conditions }),
    ...(drainCheckForbidden === undefined ? {} : { drainCheckForbidden }),
    ...(scrapeFailure === undefined ? {} : { scrapeFailure }),
    ...(reconcileFailure === undefined ? {} : { reconcileFailure }),
    ...(reported === undefined ? {} : { reported }),
  };
}
