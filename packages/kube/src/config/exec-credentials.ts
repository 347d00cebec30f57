// Credentials from an exec plugin: runs it if nothing is cached, shortly before expiry, and after a 401, never twice at
// the same time. exec-process.ts runs the child process.

import type { Clock } from "../core/clock.ts";
import { CredentialsError } from "../core/errors.ts";
import { isFields, stringField } from "../core/fields.ts";
import type { ClusterConfig, ExecPlugin } from "./cluster-config.ts";
import type { RunProcess } from "./exec-process.ts";
import type { ClientCertificate } from "./tls-material.ts";

export interface ExecCredential {
  readonly token: string | undefined;
  readonly clientCertificate: ClientCertificate | undefined;
  /** Wall clock; undefined: valid until the server rejects it. */
  readonly expiresAtMs: number | undefined;
}

export interface ExecCredentialsOptions {
  readonly plugin: ExecPlugin;
  readonly config: ClusterConfig;
  readonly caPem: () => string | undefined;
  readonly clock: Clock;
  readonly run: RunProcess;
  /** Whether the plugin can prompt a user at a terminal. */
  readonly hasTerminal: boolean;
}

const PLUGIN_TIMEOUT_MS = 60_000;
/** A credential is renewed this long before it expires, or at three quarters of its lifetime if that is later. */
const LONGEST_LEEWAY_MS = 60_000;

export class ExecCredentials {
  readonly #options: ExecCredentialsOptions;
  #current: ExecCredential | undefined;
  #renewAtMs = Number.POSITIVE_INFINITY;
  #running: Promise<ExecCredential> | undefined;

  constructor(options: ExecCredentialsOptions) {
    this.#options = options;
  }

  get(): ExecCredential | Promise<ExecCredential> {
    if (this.#current !== undefined && this.#options.clock.now() < this.#renewAtMs) return this.#current;
    return this.#renew();
  }

  /** A credential other than the rejected one: the one obtained meanwhile, or a new one. */
  async replace(refused: ExecCredential): Promise<ExecCredential> {
    return this.#current !== undefined && this.#current !== refused ? this.#current : this.#renew();
  }

  #renew(): Promise<ExecCredential> {
    this.#running ??= this.#obtain().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #obtain(): Promise<ExecCredential> {
    const { plugin, run, clock, hasTerminal } = this.#options;
    if (plugin.interactiveMode === "Always" && !hasTerminal)
      throw new CredentialsError(
        `credential plugin ${plugin.command} has interactiveMode Always, but there is no terminal: use IfAvailable or Never, or another authentication method`,
      );
    const interactive = plugin.interactiveMode !== "Never" && hasTerminal;
    const startedMs = clock.now();
    const output = await run({
      command: plugin.command,
      args: plugin.args,
      env: { ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(this.#execInfo(interactive)) },
      interactive,
      timeoutMs: PLUGIN_TIMEOUT_MS,
      installHint: plugin.installHint,
    });
    const credential = parseExecCredential(output, plugin);
    this.#current = credential;
    const { expiresAtMs } = credential;
    this.#renewAtMs =
      expiresAtMs === undefined
        ? Number.POSITIVE_INFINITY
        : expiresAtMs - Math.min(LONGEST_LEEWAY_MS, Math.max(0, (expiresAtMs - startedMs) / 4));
    return credential;
  }

  #execInfo(interactive: boolean): object {
    const { plugin, config, caPem } = this.#options;
    const ca = plugin.provideClusterInfo ? caPem() : undefined;
    const cluster = {
      server: config.server,
      "tls-server-name": config.tlsServerName,
      "insecure-skip-tls-verify": config.insecureSkipTlsVerify || undefined,
      "certificate-authority-data": ca === undefined ? undefined : Buffer.from(ca).toString("base64"),
      "proxy-url": config.proxyUrl,
      config: plugin.clusterConfig,
    };
    return {
      apiVersion: plugin.apiVersion,
      kind: "ExecCredential",
      spec: plugin.provideClusterInfo ? { interactive, cluster } : { interactive },
    };
  }
}

/** Parses the output of a plugin. Messages never quote it: it contains the credential. */
export function parseExecCredential(output: string, plugin: ExecPlugin): ExecCredential {
  const wrong = (problem: string): CredentialsError =>
    new CredentialsError(`credential plugin ${plugin.command} ${problem}`);
  let document: unknown;
  try {
    document = JSON.parse(output);
  } catch {
    // The parser's message would quote the output, so it is omitted on purpose.
    throw wrong("printed something that is not JSON; it must print an ExecCredential and nothing else to stdout");
  }
  if (!isFields(document) || document["kind"] !== "ExecCredential") throw wrong("did not print an ExecCredential");
  if (document["apiVersion"] !== plugin.apiVersion)
    throw wrong(`returned ${String(document["apiVersion"])}, but the kubeconfig requires ${plugin.apiVersion}`);
  const status = isFields(document["status"]) ? document["status"] : {};
  const token = stringField(status, "token");
  const cert = stringField(status, "clientCertificateData");
  const key = stringField(status, "clientKeyData");
  if ((cert === undefined) !== (key === undefined))
    throw wrong("returned only one of clientCertificateData and clientKeyData");
  if (token === undefined && cert === undefined) throw wrong("returned neither a token nor a client certificate");
  const expiry = stringField(status, "expirationTimestamp");
  const expiresAtMs = expiry === undefined ? undefined : Date.parse(expiry);
  if (Number.isNaN(expiresAtMs)) throw wrong(`returned the invalid expirationTimestamp "${expiry}"`);
  return {
    token,
    clientCertificate: cert === undefined || key === undefined ? undefined : { cert, key },
    expiresAtMs,
  };
}
