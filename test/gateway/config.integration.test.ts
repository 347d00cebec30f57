// Every variant of the gateway configuration is loaded by the real Envoy.
import { expect, test } from "vitest";
import { type GatewayConfig, renderGatewayConfig } from "../../src/gateway/gateway-config.ts";
import { serialiseGatewayConfig } from "../../src/gateway/serialise.ts";
import { validateEnvoyConfig } from "../harness/envoy/envoy.ts";

const VARIANTS: readonly { readonly name: string; readonly config: GatewayConfig }[] = [
  { name: "defaults", config: renderGatewayConfig({ namespace: "default" }) },
  { name: "another metrics port", config: renderGatewayConfig({ namespace: "default", metricsPort: 19_090 }) },
  { name: "the lowest metrics port", config: renderGatewayConfig({ namespace: "default", metricsPort: 1 }) },
  { name: "the highest metrics port", config: renderGatewayConfig({ namespace: "default", metricsPort: 65_535 }) },
  { name: "a memory limit", config: renderGatewayConfig({ namespace: "default", memoryLimitBytes: 1024 ** 3 }) },
  {
    name: "domains and a default engine",
    config: renderGatewayConfig({
      namespace: "default",
      wake: true,
      selection: { hostDomains: ["fb.example.com", "localhost"], defaultEngine: "adhoc", service: "main-gateway" },
    }),
  },
  { name: "the longest namespace", config: renderGatewayConfig({ namespace: "n".repeat(63) }) },
  { name: "a namespace of digits", config: renderGatewayConfig({ namespace: "123" }) },
  {
    name: "other name servers",
    config: renderGatewayConfig(
      { namespace: "default" },
      {
        address: "127.0.0.1",
        clientPort: 18_080,
        adminPort: 19_901,
        dnsResolvers: [{ address: "127.0.0.1", port: 53 }],
      },
    ),
  },
];

/** Deprecated fields that are kept on purpose. Any other warning is news. */
const EXPECTED_WARNINGS = ["max_requests_per_connection", "dns_refresh_rate"];

test.each(VARIANTS)("Envoy loads: $name", async ({ config }) => {
  const said = await validateEnvoyConfig(serialiseGatewayConfig(config));
  expect(said).toContain("OK");
  const warnings = said.split("\n").filter((line) => /\[(warning|error|critical)\]/.test(line));
  expect(warnings.filter((line) => !EXPECTED_WARNINGS.some((known) => line.includes(known)))).toEqual([]);
});

test("Envoy rejects a configuration with a misspelt field", async () => {
  const config = renderGatewayConfig({ namespace: "default" });
  const misspelt = { ...config, static_resourses: {} };
  await expect(validateEnvoyConfig(serialiseGatewayConfig(misspelt))).rejects.toThrow(/static_resourses/);
});
