// What one user has asked of the API server, by the API server's own audit log.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";

export interface AuditLog extends Disposable {
  /** Further flags for kube-apiserver. */
  readonly apiServerArgs: readonly string[];
  /** Requests that were answered, as `verb resource/name`; watches aside. */
  requests(user: string): readonly string[];
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly name?: string };
}

export function openAuditLog(): AuditLog {
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  const log = join(folder, "audit.log");
  const policy = join(folder, "policy.yaml");
  writeFileSync(
    policy,
    stringify({
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
      omitStages: ["RequestReceived", "ResponseStarted"],
      rules: [{ level: "Metadata", userGroups: ["system:serviceaccounts"] }, { level: "None" }],
    }),
  );
  return {
    apiServerArgs: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    requests(user) {
      if (!existsSync(log)) return [];
      const lines = readFileSync(log, "utf8").split("\n");
      // The last line may still be arriving.
      return lines.slice(0, -1).flatMap((line) => {
        const event = JSON.parse(line) as AuditEvent;
        if (event.user.username !== user || event.verb === "watch") return [];
        return [`${event.verb} ${event.objectRef?.resource ?? ""}/${event.objectRef?.name ?? ""}`];
      });
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
