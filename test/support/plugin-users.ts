// Users of the plugin who may do only some things: a name, a ClusterRole of the rules given, and a kubeconfig.
import type { ControlPlane } from "../../dev/control-plane/control-plane.ts";
import { requestAs } from "./cluster.ts";

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const API_GROUP = "rbac.authorization.k8s.io";

/** The kubeconfig of a new user with these rights in all namespaces. */
export async function addPluginUser(
  { adminKubeconfig, userKubeconfig }: ControlPlane,
  name: string,
  rules: readonly Rule[],
): Promise<string> {
  const create = (kind: string, rest: object) =>
    requestAs(adminKubeconfig, {
      method: "POST",
      path: `/apis/${API_GROUP}/v1/${kind.toLowerCase()}s`,
      body: { apiVersion: `${API_GROUP}/v1`, kind, metadata: { name }, ...rest },
    });
  await create("ClusterRole", { rules });
  await create("ClusterRoleBinding", {
    roleRef: { apiGroup: API_GROUP, kind: "ClusterRole", name },
    subjects: [{ apiGroup: API_GROUP, kind: "User", name }],
  });
  return userKubeconfig(name);
}
