// Serialises a gateway configuration as YAML, so that the scripts inside stay readable in the ConfigMap. The only place
// where the configuration becomes a string.
import { stringify } from "yaml";
import type { GatewayConfig } from "./gateway-config.ts";

/** The key of the ConfigMap and the name of the file that Envoy loads. */
export const GATEWAY_CONFIG_FILE = "envoy.yaml";

/**
 * Keys keep their order and long lines their length, so that equal configurations give equal strings and equal hashes.
 */
export function serialiseGatewayConfig(config: GatewayConfig): string {
  return stringify(config, { lineWidth: 0, aliasDuplicateObjects: false, blockQuote: "literal" });
}
