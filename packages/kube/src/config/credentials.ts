// The credentials of the next request: the Authorization header and the TLS material. Sends nothing; the client calls
// it before each request and after a 401.

import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { type ExecCredential, ExecCredentials } from "./exec-credentials.ts";
import { type RunProcess, runProcess } from "./exec-process.ts";
import { diskFiles, type FileAccess, RotatingFile } from "./rotating-file.ts";
import { createTlsSource, type TlsMaterial } from "./tls-material.ts";

/** The credentials of one request. The same object as long as nothing changes. */
export interface Identity {
  readonly authorization: string | undefined;
  readonly tls: TlsMaterial;
}

export interface Credentials {
  current(): Identity | Promise<Identity>;
  /** The server returned 401 for this identity: another identity worth one more attempt, or undefined. */
  afterUnauthorized(refused: Identity): Promise<Identity | undefined>;
}

export interface CredentialsOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files?: FileAccess;
  readonly run?: RunProcess;
  readonly hasTerminal?: boolean;
}

export function createCredentials(options: CredentialsOptions): Credentials {
  const { config, clock, logger, files = diskFiles } = options;
  const { authentication } = config;
  const tls = createTlsSource(config, { clock, logger, files });
  let last: Identity | undefined;
  const identity = (authorization: string | undefined, material: TlsMaterial): Identity => {
    if (last?.authorization !== authorization || last?.tls !== material) last = { authorization, tls: material };
    return last;
  };
  /** For credentials that cannot be renewed. */
  const fixed = (authorization: string | undefined): Credentials => ({
    current: () => identity(authorization, tls.current(undefined)),
    afterUnauthorized: async () => undefined,
  });
  switch (authentication.type) {
    case "none":
      return fixed(undefined);
    case "token":
      return fixed(`Bearer ${authentication.token}`);
    case "basic": {
      const pair = `${authentication.username}:${authentication.password}`;
      return fixed(`Basic ${Buffer.from(pair).toString("base64")}`);
    }
    case "tokenFile": {
      const file = new RotatingFile({ path: authentication.path, clock, logger, files });
      return {
        current: () => identity(`Bearer ${file.current()}`, tls.current(undefined)),
        async afterUnauthorized(refused) {
          const next = identity(`Bearer ${file.reread()}`, tls.current(undefined));
          return next.authorization === refused.authorization ? undefined : next;
        },
      };
    }
    case "exec": {
      const plugin = new ExecCredentials({
        plugin: authentication.plugin,
        config,
        caPem: tls.ca,
        clock,
        run: options.run ?? runProcess,
        hasTerminal: options.hasTerminal ?? process.stdin.isTTY === true,
      });
      return fromPlugin(plugin, (credential) =>
        identity(
          credential.token === undefined ? undefined : `Bearer ${credential.token}`,
          tls.current(credential.clientCertificate),
        ),
      );
    }
  }
}

function fromPlugin(plugin: ExecCredentials, identityOf: (credential: ExecCredential) => Identity): Credentials {
  // Which run of the plugin an identity came from: a 401 for an older run must not start another one.
  const origins = new WeakMap<Identity, ExecCredential>();
  const remember = (credential: ExecCredential): Identity => {
    const identity = identityOf(credential);
    origins.set(identity, credential);
    return identity;
  };
  return {
    current() {
      const credential = plugin.get();
      return credential instanceof Promise ? credential.then(remember) : remember(credential);
    },
    async afterUnauthorized(refused) {
      const origin = origins.get(refused);
      return origin === undefined ? undefined : remember(await plugin.replace(origin));
    },
  };
}
