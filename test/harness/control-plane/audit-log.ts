// What service accounts have requested of an API server, by its own audit log.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

export interface AuditSettings {
  readonly auditLog: string;
  /** Further flags for kube-apiserver. */
  readonly apiServerArgs: readonly string[];
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly name?: string };
}

/** Writes the policy to the folder, and keeps the log there. */
export function auditSettings(folder: string): AuditSettings {
  const auditLog = join(folder, "audit.log");
  const policy = join(folder, "audit-policy.yaml");
  writeFileSync(
    policy,
    stringify({
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
      omitStages: ["RequestReceived", "ResponseStarted"],
      rules: [{ level: "Metadata", userGroups: ["system:serviceaccounts"] }, { level: "None" }],
    }),
  );
  return { auditLog, apiServerArgs: [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`] };
}

/** Requests of this user that were answered, as `verb resource/name`; watches aside. */
export function requestsInAuditLog(auditLog: string, user: string): readonly string[] {
  if (!existsSync(auditLog)) return [];
  const lines = readFileSync(auditLog, "utf8").split("\n");
  // The last line may still be arriving.
  return lines.slice(0, -1).flatMap((line) => {
    const event = JSON.parse(line) as AuditEvent;
    if (event.user.username !== user || event.verb === "watch") return [];
    return [`${event.verb} ${event.objectRef?.resource ?? ""}/${event.objectRef?.name ?? ""}`];
  });
}
