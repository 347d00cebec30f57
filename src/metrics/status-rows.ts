// Turns a status into rows of gauges: one row per value of an enumeration, always all of them. Pure.
import { findCondition } from "../api/condition-list.ts";
import type { Condition } from "../api/schema/condition.ts";
import type { Labels, Row } from "./object-series.ts";

type Conditions = readonly Readonly<Condition>[] | undefined;

/** 1 for the current value, 0 for the others. */
export function oneOfRows(
  identity: Labels,
  label: string,
  values: readonly string[],
  present: string | undefined,
): readonly Row[] {
  return values.map((value) => [{ ...identity, [label]: value }, value === present ? 1 : 0]);
}

/** 1 when True; a missing condition counts as not true. */
export function conditionRows(identity: Labels, types: readonly string[], conditions: Conditions): readonly Row[] {
  return types.map((type) => [{ ...identity, type }, findCondition(conditions, type)?.status === "True" ? 1 : 0]);
}

/** One row per existing condition, for its current reason. */
export function reasonRows(identity: Labels, types: readonly string[], conditions: Conditions): readonly Row[] {
  return types.flatMap((type): readonly Row[] => {
    const reason = findCondition(conditions, type)?.reason;
    return reason === undefined ? [] : [[{ ...identity, type, reason }, 1]];
  });
}
