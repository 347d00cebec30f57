// The requests to the API server, with user and authorization decision, from its audit log.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";

/** One completed request, or a watch that started. */
export interface AuditedRequest {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/proxy`. Empty for paths that are no resources. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly status: number;
  /** Refused by the authoriser, or as an escalation. */
  readonly forbidden: boolean;
}

export interface AuditLog {
  readonly apiServerArgs: readonly string[];
  /** All requests of this user so far. */
  requestsOf(user: string): readonly AuditedRequest[];
}

/** Metadata only: neither bodies nor Secrets are written. */
const POLICY = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata", userGroups: ["system:serviceaccounts"] }, { level: "None" }],
};

export function openAuditLog(folder: string): AuditLog {
  const policy = join(folder, "audit-policy.yaml");
  const log = join(folder, "audit.log");
  writeFileSync(policy, JSON.stringify(POLICY));
  return {
    apiServerArgs: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, "--audit-log-mode=blocking"],
    requestsOf(user) {
      const lines = readFileSync(log, "utf8").split("\n");
      // The last line may still be arriving.
      return lines.slice(0, -1).flatMap((line) => parseEntry(JSON.parse(line), user));
    },
  };
}

function parseEntry(entry: unknown, user: string): readonly AuditedRequest[] {
  if (valueAt(entry, ["user", "username"]) !== user) return [];
  const text = (...path: string[]): string => {
    const value = valueAt(entry, path);
    return typeof value === "string" ? value : "";
  };
  const resource = text("objectRef", "resource");
  const subresource = text("objectRef", "subresource");
  const status = Number(valueAt(entry, ["responseStatus", "code"]) ?? 0);
  return [
    {
      verb: text("verb"),
      group: text("objectRef", "apiGroup"),
      resource: subresource === "" ? resource : `${resource}/${subresource}`,
      namespace: text("objectRef", "namespace"),
      name: text("objectRef", "name"),
      path: text("requestURI"),
      status,
      forbidden: status === 403 || text("annotations", "authorization.k8s.io/decision") === "forbid",
    },
  ];
}
