// Renders a kubeconfig with everything embedded, so that the file works from any folder. Writes no files.
import { stringify } from "yaml";
import type { KeyPair } from "../authority.ts";

export interface KubeconfigContents {
  readonly url: string;
  /** The cluster's root certificate, PEM. */
  readonly ca: string;
  readonly user: string;
  readonly credentials:
    | { readonly type: "certificate"; readonly pair: KeyPair }
    | { readonly type: "token"; readonly token: string };
}

/** A kubeconfig as YAML, with everything embedded. */
export function renderKubeconfig(contents: KubeconfigContents): string {
  const { url, ca, user, credentials } = contents;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "local",
    contexts: [{ name: "local", context: { cluster: "local", user } }],
    clusters: [{ name: "local", cluster: { server: url, "certificate-authority-data": base64(ca) } }],
    users: [
      {
        name: user,
        user:
          credentials.type === "token"
            ? { token: credentials.token }
            : {
                "client-certificate-data": base64(credentials.pair.certificate),
                "client-key-data": base64(credentials.pair.key),
              },
      },
    ],
  });
}

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
