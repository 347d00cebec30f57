// Whether the gateway's ServiceAccount is still the one that its pods got their tokens from. Tokens are bound to the uid of the account:
// one that was deleted and created again has the same name and rights, and the tokens of running pods are rejected. Pure.
import type { InstanceStatus } from "../../api/instance-status.ts";
import { gatewayName } from "../names.ts";
import { ownsGatewayIdentity } from "../render/gateway-identity.ts";
import { childOf, type InstanceSnapshot } from "../snapshot.ts";

export type GatewayAccount = NonNullable<InstanceStatus["gatewayAccount"]>;

/** What is known of the account from now on; undefined where it is the user's, or was never seen. */
export function gatewayAccountOf(s: InstanceSnapshot): GatewayAccount | undefined {
  const { spec, status } = s.instance;
  if (!ownsGatewayIdentity(spec)) return undefined;
  const child = childOf(s, "ServiceAccount", gatewayName(s.identity.name));
  const uid = child.type === "live" ? child.object.metadata?.uid : undefined;
  const known = status?.gatewayAccount;
  if (uid === undefined || uid === known?.uid) return known;
  return known === undefined ? { uid } : { uid, replaced: true };
}

/** Stamped on the pods, so that a change rolls them. An account that was never replaced leaves no trace. */
export function replacedAccountUid(s: InstanceSnapshot): string | undefined {
  const account = gatewayAccountOf(s);
  return account?.replaced === true ? account.uid : undefined;
}
