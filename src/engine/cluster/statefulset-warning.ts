// A core Event as a warning of a StatefulSet: which of its several time stamps and counts is the one that counts.
import type { CoreV1Event } from "../../api/generated/kubernetes.ts";
import type { StatefulSetWarning } from "../model/snapshot.ts";

export function warningOf({ reason, message, count, series, metadata, ...times }: CoreV1Event): StatefulSetWarning {
  const lastSeen = times.lastTimestamp || times.eventTime || metadata.creationTimestamp || "";
  return {
    reason: reason ?? "",
    message: message ?? "",
    count: count ?? series?.count ?? 1,
    lastSeenMs: Date.parse(lastSeen) || 0,
  };
}
