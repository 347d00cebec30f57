// What auto-stop cannot see, behind Ready's message: an engine whose pods cannot be probed for their queries never
// counts as idle, and costs money unnoticed. Pure.
import { findCondition } from "../../api/condition-list.ts";
import type { Condition } from "../../api/schema/condition.ts";
import { withoutFailure } from "../compute/failure-suffix.ts";
import type { NextStatus } from "../model/decision.ts";

const MARK = "; auto-stop cannot see whether queries run, so the engine stays up: ";

type Conditions = readonly Readonly<Condition>[] | undefined;

/** Only where the engine serves: for pods that are not ready Ready itself names the cause. */
export function withScrapeFailure(status: NextStatus, cause: string | undefined): NextStatus {
  const ready = findCondition(status.conditions, "Ready");
  if (ready?.status !== "True" || cause === undefined) return status;
  const message = `${ready.message}${MARK}${cause}`;
  const conditions = (status.conditions ?? []).map((one) => (one === ready ? { ...one, message } : one));
  return { ...status, conditions };
}

/** The cause that Ready's message names. */
export function scrapeFailureOf(conditions: Conditions): string | undefined {
  const message = withoutFailure(findCondition(conditions, "Ready")?.message ?? "");
  const start = message.indexOf(MARK);
  return start < 0 ? undefined : message.slice(start + MARK.length);
}

/** The cause with what to do about it. */
export function scrapeFailureText(cause: string): string {
  const remedy = /\b403\b|[Ff]orbidden/.test(cause)
    ? "allow the operator to get pods/proxy (chart value rbac.apiserverProxyGrant), or set spec.metricScrapeMode: PodIP on the instance"
    : "let the pod respond on its metrics port, or delete it";
  return `${cause}; next: ${remedy}`;
}
