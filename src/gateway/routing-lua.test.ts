import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROUTING_LUA } from "./routing-lua.ts";

test("the module equals routing.lua (otherwise: npm run generate)", () => {
  expect(ROUTING_LUA).toBe(readFileSync(new URL("routing.lua", import.meta.url), "utf8"));
});
