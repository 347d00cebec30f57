// The health checks for Argo CD and Flux with the reasons for which an engine counts as failed: the table of the Lua
// script and the list of the CEL expression. Everything else of the page is written by hand. Pure.
import { FAILED_ENGINE_REASONS } from "../../src/api/reasons.ts";

export const HEALTH_CHECKS_PAGE = "docs/adopt/gitops.md";

/** Argo CD shows an engine without its pods as degraded, and goes on waiting for it. */
const DEGRADED = ["PodsNotReady"];
const LUA_TABLE = /(?<=^( *)local rejected = \{\n)[^}]*(?=^ *\})/m;
const CEL_LIST = /(?<=c\.reason in \[)[^\]]*(?=\])/;
const WIDTH = 115;

/** The page with the present reasons. */
export function fillHealthChecks(page: string, failed: readonly string[] = FAILED_ENGINE_REASONS): string {
  for (const place of [LUA_TABLE, CEL_LIST])
    if (!place.test(page)) throw new Error(`${HEALTH_CHECKS_PAGE} has no place for reasons: ${place.source}`);
  return page
    .replace(LUA_TABLE, (_, indent: string) =>
      wrapped(
        [...failed, ...DEGRADED].map((reason) => `${reason} = true,`),
        `${indent}  `,
      ),
    )
    .replace(CEL_LIST, () => failed.map((reason) => `'${reason}'`).join(", "));
}

function wrapped(words: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && `${line} ${word}`.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}
