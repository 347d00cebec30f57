// Gateways that run under an account of the user's have no wake agent: its rights would not be the operator's to give. The condition of
// the gateway says so for as long as it is so, and from that an event is told once, when it begins. Pure.

import { findCondition } from "../api/condition-list.ts";
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { InstanceStatus } from "../api/instance-status.ts";
import { gatewayAccountName, ownsGatewayIdentity } from "./render/gateway-identity.ts";
import type { InstanceSnapshot } from "./snapshot.ts";

const HINT_START =
  "; queries do not wake stopped engines, which answer 503, because the gateway's template names ServiceAccount ";

/** What GatewayReady's message ends with; empty when queries wake engines, or when nothing would wake them anyway. */
export function wakeOffHint({
  settings,
  instance,
  identity,
}: Pick<InstanceSnapshot, "settings" | "instance" | "identity">) {
  const { spec } = instance;
  if (settings.wakeAgent === undefined || ownsGatewayIdentity(spec)) return "";
  return `${HINT_START}${gatewayAccountName(identity.name, spec)}`;
}

/** The note of the event that a status deserves: the state was not there before and is there now. */
export function wakeOffBegins(
  before: DeepReadonly<InstanceStatus> | undefined,
  after: DeepReadonly<InstanceStatus> | undefined,
): string | undefined {
  const told = hintIn(after);
  return told === undefined || hintIn(before) !== undefined ? undefined : told;
}

function hintIn(status: DeepReadonly<InstanceStatus> | undefined): string | undefined {
  const message = findCondition(status?.conditions, "GatewayReady")?.message ?? "";
  const at = message.lastIndexOf(HINT_START);
  if (at < 0) return undefined;
  const text = message.slice(at + "; ".length);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
