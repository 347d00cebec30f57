// The gateway's ServiceAccount and its permissions: read the engines of its namespace and write wake requests to them,
// through its own Role or an existing ClusterRole. Not rendered if the template names a ServiceAccount: then identity
// and permissions are the user's.

import type { V1PolicyRule } from "../../api/generated/kubernetes.ts";
import { GROUP } from "../../api/group.ts";
import { type WakeMode, wakeAgentRules } from "../../gateway/wake-container.ts";
import type { Instance, Rendered } from "../model/children.ts";
import { gatewayName, type InstanceIdentity } from "../model/names.ts";
import { userAnnotations } from "./component-pod.ts";
import { objectMetadata } from "./object-metadata.ts";

type Spec = Instance["spec"];

const RBAC_GROUP = "rbac.authorization.k8s.io";

/** Whether the operator creates the gateway's account. */
export function ownsGatewayIdentity({ gateway: { template } }: Spec): boolean {
  return !template?.spec?.serviceAccountName;
}

export function gatewayAccountName(instance: string, { gateway: { template } }: Spec): string {
  return template?.spec?.serviceAccountName || gatewayName(instance);
}

export interface GatewayIdentityInput {
  readonly identity: InstanceIdentity;
  readonly spec: Spec;
  readonly hasWakeAgent: boolean;
  readonly wakeMode: WakeMode;
  /** Bound in place of a Role of the instance's own. */
  readonly clusterRole: string | undefined;
}

export function renderGatewayIdentity(
  input: GatewayIdentityInput,
): readonly Rendered<"ServiceAccount" | "Role" | "RoleBinding">[] {
  const { identity, spec, clusterRole } = input;
  if (!ownsGatewayIdentity(spec)) return [];
  const name = gatewayName(identity.name);
  const metadata = () => objectMetadata(identity, "gateway", name);
  // Cloud identities are bound by annotations of the account.
  const annotations = userAnnotations(spec.gateway.template);
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: Object.keys(annotations).length === 0 ? metadata() : { ...metadata(), annotations },
    },
    ...(clusterRole === undefined
      ? [{ apiVersion: `${RBAC_GROUP}/v1`, kind: "Role" as const, metadata: metadata(), rules: rulesOf(input) }]
      : []),
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "RoleBinding",
      metadata: metadata(),
      roleRef:
        clusterRole === undefined
          ? { apiGroup: RBAC_GROUP, kind: "Role", name }
          : { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: clusterRole },
      subjects: [{ kind: "ServiceAccount", name, namespace: identity.namespace }],
    },
  ];
}

/** Without an agent another program may write wake requests with the gateway's account, unless the mode needs none. */
function rulesOf({ hasWakeAgent, wakeMode }: GatewayIdentityInput): V1PolicyRule[] {
  if (hasWakeAgent) return wakeAgentRules(wakeMode);
  if (wakeMode === "demand") return [];
  return [{ apiGroups: [GROUP], resources: ["fireboltengines"], verbs: ["get", "list", "patch"] }];
}
