// The configuration of a gateway that holds queries is loaded by the real Envoy, without a word that the plain one does not cause.
import { expect, test } from "vitest";
import { renderGatewayConfig } from "../../src/gateway/gateway-config.ts";
import { serialiseGatewayConfig } from "../../src/gateway/serialise.ts";
import { validateEnvoyConfig } from "../harness/envoy/envoy.ts";

const warnings = async (wake: boolean): Promise<readonly string[]> => {
  const said = await validateEnvoyConfig(serialiseGatewayConfig(renderGatewayConfig({ namespace: "default", wake })));
  expect(said).toContain("OK");
  const lines = said.split("\n").filter((line) => /\[(warning|error|critical)\]/.test(line));
  return lines.map((line) => line.replace(/^\[[^\]]*\]\[[^\]]*\]/, "")).sort();
};

test("Envoy loads it, and warns of nothing new", async () => {
  expect(await warnings(true)).toEqual(await warnings(false));
});
