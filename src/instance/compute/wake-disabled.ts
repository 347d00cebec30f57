// Whether queries to the gateway do not wake stopped engines: a gateway that runs under the user's ServiceAccount has
// no wake agent, because the operator does not grant permissions to that account. Pure.

import type { InstanceSnapshot } from "../model/snapshot.ts";
import { gatewayAccountName, ownsGatewayIdentity } from "../render/gateway-identity.ts";

/**
 * The user's ServiceAccount that disables waking; undefined when queries wake engines, or when waking is off for every
 * gateway.
 */
export function wakeDisabledBy({
  settings,
  instance,
  identity,
}: Pick<InstanceSnapshot, "settings" | "instance" | "identity">): string | undefined {
  const { spec } = instance;
  if (settings.wakeAgent === undefined || ownsGatewayIdentity(spec)) return undefined;
  return gatewayAccountName(identity.name, spec);
}

export function wakeDisabledText(serviceAccount: string): string {
  return `queries do not wake stopped engines, which return 503, because the gateway's template names ServiceAccount ${serviceAccount}`;
}
