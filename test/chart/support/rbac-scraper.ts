// A scraper of the manager's secure metrics: rejected without a token, rejected without permission, then served.
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { type Api, valueAt } from "@firebolt-operator/kube/testing";
import { expect } from "vitest";
import { parse } from "yaml";
import type { ControlPlane } from "../../../dev/control-plane/control-plane.ts";
import { eventually } from "../../harness/control-plane/requests.ts";

const PORT = 8443;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

export async function scrapersAreChecked(cluster: ControlPlane, api: Api, namespace: string): Promise<void> {
  const token = tokenOf(await cluster.serviceAccountKubeconfig(namespace, "scraper"));
  const stranger = tokenOf(await cluster.serviceAccountKubeconfig(namespace, "stranger"));
  expect(await scrape(undefined)).toBe(401);
  expect(await scrape("nonsense")).toBe(401);
  expect(await scrape(stranger)).toBe(403);
  const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
  const metadata = { name: "scraper" };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "scraper" };
  const subjects = [{ kind: "ServiceAccount", name: "scraper", namespace }];
  await api.expect({ method: "POST", path: `${RBAC}/clusterroles`, body: { metadata, rules } });
  await api.expect({ method: "POST", path: `${RBAC}/clusterrolebindings`, body: { metadata, roleRef, subjects } });
  await eventually(async () => expect(await scrape(token)).toBe(200), { timeoutMs: 120_000 });
}

function tokenOf(kubeconfig: string): string {
  const token = valueAt(parse(readFileSync(kubeconfig, "utf8")), ["users", 0, "user", "token"]);
  if (typeof token !== "string") throw new Error(`${kubeconfig} has no token`);
  return token;
}

/** The status of one scrape. The certificate is self-signed: it is not verified. */
function scrape(token: string | undefined): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { rejectUnauthorized: false, headers, agent: false, signal: AbortSignal.timeout(60_000) };
  return new Promise((resolve, reject) => {
    request(`https://127.0.0.1:${PORT}/metrics`, options, (answer) => {
      answer.resume().once("end", () => resolve(answer.statusCode ?? 0));
    })
      .once("error", reject)
      .end();
  });
}
