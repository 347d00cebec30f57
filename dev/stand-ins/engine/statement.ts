// The statements of a stand-in engine, as data: a few special ones for tests, and queries for the embedded database.
// Running them is the query server's job.
import type { QueryKind } from "../../../src/api/engine-contract.ts";

export type Statement =
  /** A query for the embedded database. */
  | { readonly type: "query"; readonly sql: string }
  | { readonly type: "wait"; readonly kind: QueryKind; readonly durationMs: number }
  | { readonly type: "whoami" }
  /** Leaves a trace, so that a query that ran twice is seen. */
  | { readonly type: "marker"; readonly id: string }
  /** A response of this size. */
  | { readonly type: "blob"; readonly sizeBytes: number }
  /** Fails after it began, as a query with side effects may. */
  | { readonly type: "fail" };

const BLOCK_COMMENT = "/*";

/** A trailing comment is allowed in all of them: it makes bodies of any size. */
export function parseStatement(sql: string): Statement {
  const comment = sql.indexOf(BLOCK_COMMENT);
  const text = (comment < 0 ? sql : sql.slice(0, comment)).trim().replace(/;$/, "").trim();
  const wait = /^SELECT (sleep|suspend)\((\d+)\)$/i.exec(text);
  if (wait !== null) {
    const kind = wait[1]?.toLowerCase() === "sleep" ? "running" : "suspended";
    return { type: "wait", kind, durationMs: Number(wait[2]) };
  }
  if (/^SELECT whoami\(\)$/i.test(text)) return { type: "whoami" };
  if (/^SELECT fail\(\)$/i.test(text)) return { type: "fail" };
  const size = /^SELECT blob\((\d+)\)$/i.exec(text)?.[1];
  if (size !== undefined) return { type: "blob", sizeBytes: Number(size) };
  const marker = /^INSERT marker\('([^']+)'\)$/i.exec(text)?.[1];
  if (marker !== undefined) return { type: "marker", id: marker };
  return { type: "query", sql };
}
