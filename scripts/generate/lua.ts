// The TypeScript form of the gateway's Lua scripts. The .lua file is what people edit; the module is what Node, the tests and
// the bundle import alike. It only renders text: writing and comparing files is the caller's job.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** A generated file: its path from the top of the project, and its text. */
export interface GeneratedModule {
  readonly path: string;
  readonly text: string;
}

export function renderLuaModule(): GeneratedModule {
  const lua = readFileSync(join(ROOT, "src/gateway/routing.lua"), "utf8");
  const literal = lua.replaceAll(/[\\`]|\$\{/g, (special) => `\\${special}`);
  return {
    path: "src/gateway/routing-lua.ts",
    text: [
      "// Generated from routing.lua by `npm run generate`: edit that file, never this one.",
      "",
      "/** The script that picks the engine of a request. */",
      `export const ROUTING_LUA = \`${literal}\`;`,
      "",
    ].join("\n"),
  };
}
