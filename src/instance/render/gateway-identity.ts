// The gateway's account and what it may do: see, and stamp, the engines of its namespace. Not rendered at all when the user
// names an account: then identity and rights are the user's.
import { GROUP } from "../../api/group.ts";
import { wakeAgentRules } from "../../gateway/wake-container.ts";
import type { Instance, Rendered } from "../children.ts";
import { gatewayName, type InstanceIdentity } from "../names.ts";
import { userAnnotations } from "./component-pod.ts";
import { objectMetadata } from "./object-metadata.ts";

type Spec = Instance["spec"];

const RBAC_GROUP = "rbac.authorization.k8s.io";

/** Whether the gateway's account is the operator's to make. */
export function ownsGatewayIdentity({ gateway: { template } }: Spec): boolean {
  return !template?.spec?.serviceAccountName;
}

export function gatewayAccountName(instance: string, { gateway: { template } }: Spec): string {
  return template?.spec?.serviceAccountName || gatewayName(instance);
}

export function renderGatewayIdentity(
  identity: InstanceIdentity,
  spec: Spec,
  hasWakeAgent: boolean,
): readonly Rendered<"ServiceAccount" | "Role" | "RoleBinding">[] {
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
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "Role",
      metadata: metadata(),
      rules: hasWakeAgent
        ? wakeAgentRules()
        : [{ apiGroups: [GROUP], resources: ["fireboltengines"], verbs: ["get", "list", "patch"] }],
    },
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "RoleBinding",
      metadata: metadata(),
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace: identity.namespace }],
    },
  ];
}
