// The TypeScript form of the gateway's Lua scripts. The .lua files are what people edit; the modules are what Node, the tests and
// the bundle import alike. Renders text from text: reading and writing files is the caller's job.

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

export function renderLuaModule({ source, constant, description }: LuaScript, lua: string): string {
  const literal = lua.replaceAll(/[\\`]|\$\{/g, (special) => `\\${special}`);
  return [
    `// Generated from ${source.slice(source.lastIndexOf("/") + 1)} by \`npm run generate\`: edit that file, never this one.`,
    "",
    `/** ${description} */`,
    `export const ${constant} = \`${literal}\`;`,
    "",
  ].join("\n");
}
