import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LUA_SCRIPTS, renderLuaModule } from "./lua.ts";

const read = (path: string): string => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

test.each(LUA_SCRIPTS)("$module is up to date (otherwise: npm run generate)", (script) => {
  expect(read(script.module)).toBe(renderLuaModule(script, read(script.source)));
});

test("every character of a script survives", async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: these are the characters that would end or fill a template.
  const lua = 'print("a\\n") -- `tick` ${not} \\${either}\n';
  const script = { source: "a/b.lua", module: "a/b.ts", constant: "TEXT", description: "Text." };
  const module = `data:text/javascript,${encodeURIComponent(renderLuaModule(script, lua))}`;
  expect((await import(/* @vite-ignore */ module)).TEXT).toBe(lua);
});
