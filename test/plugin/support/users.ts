// Users of the plugin who may do only some things: a name, a ClusterRole of the rules given, and a kubeconfig.
import { valueAt } from "@firebolt-operator/kube/testing";
import { expect } from "vitest";
import type { ControlPlane } from "../../../dev/control-plane/control-plane.ts";
import { eventually, requestAs } from "../../harness/control-plane/requests.ts";

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const API_GROUP = "rbac.authorization.k8s.io";

/** The kubeconfig of a new user with these permissions in all namespaces. */
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
  await eventually(
    async () => {
      for (const rule of rules) expect(await isAllowed(adminKubeconfig, name, rule), JSON.stringify(rule)).toBe(true);
    },
    { describe: `the permissions of ${name}` },
  );
  return userKubeconfig(name);
}

/** The API server observes a role through its own watch. */
async function isAllowed(adminKubeconfig: string, user: string, rule: Rule): Promise<unknown> {
  const [group = "", resource = "", verb = ""] = [rule.apiGroups[0], rule.resources[0], rule.verbs[0]];
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const body = { spec: { user, resourceAttributes: { group, resource, verb } } };
  const answer = await requestAs(adminKubeconfig, { method: "POST", path, body });
  return valueAt(answer.body, ["status", "allowed"]);
}
