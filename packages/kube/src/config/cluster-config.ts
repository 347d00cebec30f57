// How to reach and authenticate to one API server, as plain data: produced by the loaders, consumed by the client.
// Files are named, not read: their content rotates, so it is read when a connection or a request needs it.

/** An inline PEM string, or the file that contains it. */
export type PemSource =
  | { readonly type: "inline"; readonly pem: string }
  | { readonly type: "file"; readonly path: string };

/** An exec credential plugin, as configured in a kubeconfig. */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  readonly provideClusterInfo: boolean;
  /** Shown if the command is not installed. */
  readonly installHint: string | undefined;
  /** The cluster's `client.authentication.k8s.io/exec` extension, passed to the plugin unchanged. */
  readonly clusterConfig: unknown;
}

/** How to authenticate, apart from a client certificate. */
export type Authentication =
  | { readonly type: "none" }
  | { readonly type: "token"; readonly token: string }
  | { readonly type: "tokenFile"; readonly path: string }
  | { readonly type: "basic"; readonly username: string; readonly password: string }
  | { readonly type: "exec"; readonly plugin: ExecPlugin };

/** The user to impersonate. */
export interface Impersonation {
  readonly user: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** How to reach and authenticate to one API server, as plain data. */
export interface ClusterConfig {
  /** Where the configuration comes from, for logs and errors: a file and context, or the service account folder. */
  readonly origin: string;
  /** `https://host:port`, optionally with a path prefix. */
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
