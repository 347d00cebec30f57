// What auto-stop cannot see, behind Ready's message: an engine whose pods cannot be probed for their queries never
// counts as idle, and costs money unnoticed. Pure.
import { findCondition } from "../../api/condition-list.ts";
import { type EngineStatus, FAILURE_MAX_LENGTH } from "../../api/firebolt-engine/status.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { cutText } from "../../api/values/plain-text.ts";
import type { NextStatus } from "../model/decision.ts";
import type { Activity } from "./decide.ts";

/** Only where the engine serves: for pods that are not ready Ready itself names the cause. */
export function withScrapeFailure(status: NextStatus, scrapeFailure: string | undefined): NextStatus {
  const ready = findCondition(status.conditions, "Ready");
  if (ready?.status !== "True" || scrapeFailure === undefined) return status;
  const message = `${ready.message}; auto-stop cannot determine whether queries run, so the engine keeps running: ${scrapeFailure}`;
  const conditions = (status.conditions ?? []).map((one) => (one === ready ? { ...one, message } : one));
  return { ...status, conditions, scrapeFailure };
}

/** An operator that does not know the field leaves it behind: it counts only with the decision that it belongs to. */
export function storedScrapeFailure(
  status: DeepReadonly<Pick<EngineStatus, "autoStopReason" | "scrapeFailure">> | undefined,
): string | undefined {
  return status?.autoStopReason === "ScrapeFailed" ? status.scrapeFailure : undefined;
}

/** The cause with what to do about it. */
export function scrapeFailureText({ cause, isForbidden }: Extract<Activity, { type: "failed" }>): string {
  const remedy = isForbidden
    ? "allow the operator to get pods/proxy (chart value rbac.apiserverProxyGrant), or set spec.metricScrapeMode: PodIP on the instance"
    : "make the pod respond on its metrics port, or delete it";
  const next = `; next: ${remedy}`;
  return `${cutText(cause, FAILURE_MAX_LENGTH - next.length)}${next}`;
}
