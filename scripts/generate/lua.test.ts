import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LUA_MODULE_FILE, LUA_SOURCE_FILE, renderLuaModule } from "./lua.ts";

const read = (path: string): string => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

test("the committed module is up to date (otherwise: npm run generate)", () => {
  expect(read(LUA_MODULE_FILE)).toBe(renderLuaModule(read(LUA_SOURCE_FILE)));
});

test("every character of a script survives", async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: these are the characters that would end or fill a template.
  const lua = 'print("a\\n") -- `tick` ${not} \\${either}\n';
  const module = `data:text/javascript,${encodeURIComponent(renderLuaModule(lua))}`;
  expect((await import(/* @vite-ignore */ module)).ROUTING_LUA).toBe(lua);
});
