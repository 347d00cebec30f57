// Counts the requests of one user in the audit log of the API server, by verb and resource; watches, the lease, and
// requests of the webhook and metrics servers are counted separately. The log is read in chunks, so that a long run
// uses no memory.
import { closeSync, existsSync, openSync, readSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";

/** Requests by `verb resource`, such as `patch fireboltengines/status`. */
export type Counts = Readonly<Record<string, number>>;

export interface RequestCount {
  /** Requests of the controllers: the figure of the budget. */
  readonly work: Counts;
  readonly watches: Counts;
  readonly lease: Counts;
  /** Webhooks and the metrics server: look-ups, certificates, token reviews. */
  readonly serving: Counts;
  /** Responses of 400 and above, by `status verb resource`. */
  readonly refused: Counts;
}

export interface AuditCounter {
  readonly apiServerArgs: readonly string[];
  /** All responses to this user since the last call, or since the start. */
  take(): RequestCount;
}

/** Metadata only: bodies would cost more than the requests. */
const policyFor = (user: string) => ({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata", users: [user] }, { level: "None" }],
});

const CHUNK_BYTES = 1 << 20;
const LARGEST_LOG_MB = 8_192;

export function openAuditCounter(folder: string, user: string): AuditCounter {
  const [policy, log] = [join(folder, "audit-policy.yaml"), join(folder, "audit.log")];
  writeFileSync(policy, JSON.stringify(policyFor(user)));
  let offset = 0;
  return {
    apiServerArgs: [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${log}`,
      // A request that has had its response is in the log already.
      "--audit-log-mode=blocking",
      `--audit-log-maxsize=${LARGEST_LOG_MB}`,
    ],
    take() {
      const tally = newTally();
      if (!existsSync(log)) return tally;
      offset = readLines(log, offset, (line) => count(JSON.parse(line), tally));
      return tally;
    },
  };
}

export const total = (counts: Counts): number => Object.values(counts).reduce((sum, one) => sum + one, 0);

/** The sum of both. */
export function addRequests(one: RequestCount, other: RequestCount): RequestCount {
  return {
    work: addCounts(one.work, other.work),
    watches: addCounts(one.watches, other.watches),
    lease: addCounts(one.lease, other.lease),
    serving: addCounts(one.serving, other.serving),
    refused: addCounts(one.refused, other.refused),
  };
}

function addCounts(one: Counts, other: Counts): Counts {
  const sum: Record<string, number> = { ...one };
  for (const [key, value] of Object.entries(other)) sum[key] = (sum[key] ?? 0) + value;
  return sum;
}

type Tally = { readonly [part in keyof RequestCount]: Record<string, number> };

const newTally = (): Tally => ({ work: {}, watches: {}, lease: {}, serving: {}, refused: {} });

function count(entry: unknown, tally: Tally): void {
  const text = (...path: string[]): string => {
    const value = valueAt(entry, path);
    return typeof value === "string" ? value : "";
  };
  const [verb, resource, subresource] = [text("verb"), text("objectRef", "resource"), text("objectRef", "subresource")];
  const what = `${verb} ${resource === "" ? text("requestURI") : subresource === "" ? resource : `${resource}/${subresource}`}`;
  // A watch is logged twice, when it starts and when it completes.
  if (verb === "watch" && text("stage") !== "ResponseStarted") return;
  if (verb !== "watch" && text("stage") === "ResponseStarted") return;
  const code = Number(valueAt(entry, ["responseStatus", "code"]) ?? 0);
  if (code >= 400) bump(tally.refused, `${code} ${what}`);
  bump(tally[partOf(verb, resource, text("userAgent"))], what);
}

function partOf(verb: string, resource: string, userAgent: string): keyof RequestCount {
  if (verb === "watch") return "watches";
  if (resource === "leases") return "lease";
  // The user agent of the program names the client.
  return userAgent.endsWith("(serving)") ? "serving" : "work";
}

function bump(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** Calls back for every complete line from the offset on; returns the offset of the next one. */
function readLines(file: string, offset: number, onLine: (line: string) => void): number {
  const end = statSync(file).size;
  const descriptor = openSync(file, "r");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let rest = Buffer.alloc(0);
  try {
    for (let at = offset; at < end; ) {
      const bytes = readSync(descriptor, chunk, 0, Math.min(CHUNK_BYTES, end - at), at);
      if (bytes === 0) break;
      at += bytes;
      const text = Buffer.concat([rest, chunk.subarray(0, bytes)]);
      const last = text.lastIndexOf(0x0a);
      for (const line of text
        .subarray(0, last + 1)
        .toString("utf8")
        .split("\n"))
        if (line !== "") onLine(line);
      rest = Buffer.from(text.subarray(last + 1));
    }
  } finally {
    closeSync(descriptor);
  }
  return end - rest.length;
}
