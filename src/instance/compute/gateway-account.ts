// Whether the gateway's ServiceAccount is still the one that issued the tokens of its pods. Tokens are bound to the uid
// of the account: an account that was deleted and created again has the same name and permissions, but rejects the
// tokens of running pods. Pure.
import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import { gatewayName } from "../model/names.ts";
import { childOf, type InstanceSnapshot } from "../model/snapshot.ts";
import { ownsGatewayIdentity } from "../render/gateway-identity.ts";

export type GatewayAccount = NonNullable<InstanceStatus["gatewayAccount"]>;

/** The account to store from now on; undefined where it is the user's, or was never observed. */
export function gatewayAccountOf(s: InstanceSnapshot): GatewayAccount | undefined {
  const { spec, status } = s.instance;
  if (!ownsGatewayIdentity(spec)) return undefined;
  const child = childOf(s, "ServiceAccount", gatewayName(s.identity.name));
  const uid = child.type === "live" ? child.object.metadata?.uid : undefined;
  const known = status?.gatewayAccount;
  if (uid === undefined || uid === known?.uid) return known;
  return known === undefined ? { uid } : { uid, replaced: true };
}

/** Set on the pods, so that a change rolls them. Undefined for an account that was never replaced. */
export function replacedAccountUid(s: InstanceSnapshot): string | undefined {
  const account = gatewayAccountOf(s);
  return account?.replaced === true ? account.uid : undefined;
}
