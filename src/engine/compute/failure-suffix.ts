// The failure of the last pass behind Ready's message. What stands before it is what the engine was last found to be.
import type { Condition } from "../../api/schema/condition.ts";

const MARK = "; the last reconcile failed: ";

/** The conditions with the failure behind Ready's message, in place of one that may stand there. */
export function withFailure(conditions: readonly Readonly<Condition>[], text: string): Condition[] {
  return conditions.map((condition) =>
    condition.type === "Ready"
      ? { ...condition, message: `${withoutFailure(condition.message)}${MARK}${text}` }
      : { ...condition },
  );
}

export function withoutFailure(message: string): string {
  const end = message.indexOf(MARK);
  return end < 0 ? message : message.slice(0, end);
}

export function namesFailure(message: string | undefined, text: string): boolean {
  return message?.endsWith(`${MARK}${text}`) === true;
}
