// The audit log of an API server that a benchmark starts for itself: what one user has requested.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditSettings, requestsInAuditLog } from "../../harness/control-plane/audit-log.ts";

export interface AuditLog extends Disposable {
  /** Further flags for kube-apiserver. */
  readonly apiServerArgs: readonly string[];
  /** Requests that were answered, as `verb resource/name`; watches aside. */
  requests(user: string): readonly string[];
}

export function openAuditLog(): AuditLog {
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  const { auditLog, apiServerArgs } = auditSettings(folder);
  return {
    apiServerArgs,
    requests: (user) => requestsInAuditLog(auditLog, user),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
