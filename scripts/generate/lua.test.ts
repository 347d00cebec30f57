import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LUA_CONSTANTS } from "../../src/api/wake-protocol.ts";
import { fillLua, LUA_SCRIPTS, renderLuaModule } from "./lua.ts";

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

test("words of the wake protocol are filled in, and an unknown name stops the generator", () => {
  expect(fillLua('get("{{header.epoch}}", {{name.max_length}})')).toBe('get("x-firebolt-wake-epoch", 63)');
  expect(() => fillLua("{{header.epoc}}")).toThrow('no constant "header.epoc"');
});

test("every constant for Lua is used by a script, decisions that scripts do not distinguish aside", () => {
  const scripts = LUA_SCRIPTS.map(({ source }) => read(source)).join("\n");
  const unused = Object.keys(LUA_CONSTANTS).filter((name) => !scripts.includes(`{{${name}}}`));
  expect(unused.filter((name) => !name.startsWith("decision."))).toEqual([]);
});
