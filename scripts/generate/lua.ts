// The TypeScript form of the gateway's Lua scripts. People edit the .lua files; Node, the tests and the bundle import
// the modules. Words of the wake protocol are filled in from src/api/wake-protocol.ts. Pure: the caller reads and
// writes files.
import { LUA_CONSTANTS } from "../../src/api/wake-protocol.ts";

export interface LuaScript {
  readonly source: string;
  readonly module: string;
  readonly constant: string;
  readonly description: string;
}

export const LUA_SCRIPTS: readonly LuaScript[] = [
  {
    source: "src/gateway/routing.lua",
    module: "src/gateway/routing-lua.ts",
    constant: "ROUTING_LUA",
    description: "The script that picks the engine of a request.",
  },
  {
    source: "src/gateway/wake.lua",
    module: "src/gateway/wake-lua.ts",
    constant: "WAKE_LUA",
    description: "The script that holds requests for engines that cannot serve; to be appended to the routing script.",
  },
];

/** The script with the words of the wake protocol in place of `{{NAME}}`. */
export function fillLua(lua: string): string {
  return lua.replaceAll(/\{\{([^{}]*)\}\}/g, (_, name: string) => {
    const value = LUA_CONSTANTS[name];
    if (value === undefined) throw new Error(`src/api/wake-protocol.ts has no constant "${name}" for Lua scripts`);
    return value;
  });
}

export function renderLuaModule({ source, constant, description }: LuaScript, lua: string): string {
  const literal = fillLua(lua).replaceAll(/[\\`]|\$\{/g, (special) => `\\${special}`);
  return [
    `// Generated from ${source.slice(source.lastIndexOf("/") + 1)} by \`npm run generate\`: edit that file, never this one.`,
    "",
    `/** ${description} */`,
    `export const ${constant} = \`${literal}\`;`,
    "",
  ].join("\n");
}
