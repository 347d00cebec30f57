// How to reach one API server and who to be there, as plain data: what the loaders produce and the client consumes.
// Files are named, not read: their content is looked up when a connection or a request needs it, because it rotates.

/** PEM text, or the file that holds it. */
export type PemSource =
  | { readonly type: "inline"; readonly pem: string }
  | { readonly type: "file"; readonly path: string };

/** A program that gives out credentials, as a kubeconfig names it. */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  readonly provideClusterInfo: boolean;
  /** What to tell a person whose machine does not have the command. */
  readonly installHint: string | undefined;
  /** The cluster's `client.authentication.k8s.io/exec` extension, passed to the plugin as it is. */
  readonly clusterConfig: unknown;
}

/** Who to be, apart from a client certificate. */
export type Authentication =
  | { readonly type: "none" }
  | { readonly type: "token"; readonly token: string }
  | { readonly type: "tokenFile"; readonly path: string }
  | { readonly type: "basic"; readonly username: string; readonly password: string }
  | { readonly type: "exec"; readonly plugin: ExecPlugin };

/** Whom to act for. */
export interface Impersonation {
  readonly user: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** How to reach one API server and who to be there, as plain data. */
export interface ClusterConfig {
  /** Where this came from, for logs and errors: a file and context, or the service account folder. */
  readonly origin: string;
  /** `https://host:port`, possibly with a path below which the API lives. */
  readonly server: string;
  /** The namespace of the context or of the pod; undefined when none is given. */
  readonly namespace?: string | undefined;
  readonly certificateAuthority?: PemSource | undefined;
  readonly clientCertificate?: { readonly certificate: PemSource; readonly key: PemSource } | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** The name to expect in the server's certificate instead of the host of the URL. */
  readonly tlsServerName?: string | undefined;
  /** `http://` or `https://` proxy to tunnel through. */
  readonly proxyUrl?: string | undefined;
  readonly authentication: Authentication;
  readonly impersonate?: Impersonation | undefined;
}
