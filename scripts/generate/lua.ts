// The TypeScript form of the gateway's Lua script. The .lua file is what people edit; the module is what Node, the tests and the
// bundle import alike. Renders text from text: reading and writing files is the caller's job.

export const LUA_SOURCE_FILE = "src/gateway/routing.lua";
export const LUA_MODULE_FILE = "src/gateway/routing-lua.ts";

export function renderLuaModule(lua: string): string {
  const literal = lua.replaceAll(/[\\`]|\$\{/g, (special) => `\\${special}`);
  return [
    "// Generated from routing.lua by `npm run generate`: edit that file, never this one.",
    "",
    "/** The script that picks the engine of a request. */",
    `export const ROUTING_LUA = \`${literal}\`;`,
    "",
  ].join("\n");
}
