// Kubeconfig files for the users and programs of a control plane: client certificates and service account tokens.
import { createHash } from "node:crypto";
import type { Authority } from "../authority.ts";
import { type Api, valueAt } from "./api-request.ts";
import { renderKubeconfig } from "./kubeconfig-file.ts";
import type { Workspace } from "./workspace.ts";

const TOKEN_SECONDS = 24 * 3600;

export interface AccessOptions {
  readonly workspace: Workspace;
  readonly authority: Authority;
  readonly url: string;
}

/** Writes a kubeconfig with a new client certificate; returns its path. */
export function writeUserKubeconfig(options: AccessOptions, user: string, groups: readonly string[]): string {
  const { workspace, authority, url } = options;
  const pair = authority.issue({ commonName: user, organizations: groups, usages: ["client"] });
  const contents = { url, ca: authority.certificate, user, credentials: { type: "certificate", pair } } as const;
  return workspace.write(fileName([user, ...groups]), renderKubeconfig(contents));
}

/** Writes a kubeconfig with a token of this service account, creating it if necessary; returns its path. */
export async function writeServiceAccountKubeconfig(
  options: AccessOptions & { readonly admin: Api },
  namespace: string,
  name: string,
): Promise<string> {
  const { workspace, authority, url, admin } = options;
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const namespaceBody = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await admin.expect({ method: "POST", path: "/api/v1/namespaces", body: namespaceBody }, [409]);
  await admin.expect(
    { method: "POST", path: accounts, body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } } },
    [409],
  );
  const { body } = await admin.expect({
    method: "POST",
    path: `${accounts}/${name}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: TOKEN_SECONDS } },
  });
  const token = valueAt(body, ["status", "token"]);
  if (typeof token !== "string") throw new Error(`TokenRequest for ${namespace}/${name} returned no token`);
  const user = `system:serviceaccount:${namespace}:${name}`;
  const contents = { url, ca: authority.certificate, user, credentials: { type: "token", token } } as const;
  return workspace.write(fileName([user]), renderKubeconfig(contents));
}

/** One file per identity; user names may contain characters that file names must not. */
function fileName(identity: readonly string[]): string {
  const readable = (identity[0] ?? "").replace(/[^a-zA-Z0-9-]+/g, "-");
  const digest = createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 8);
  return `${readable}-${digest}.kubeconfig`;
}
