// The webhook server on a loopback port with a certificate of the test's own, and raw ways to talk to it: for what senders other
// than the API server might do.
import { Agent, request } from "node:https";
import { connect, type TLSSocket } from "node:tls";
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { type CertificateSource, inspectPair, type KeyPair, PairHolder } from "@firebolt-operator/kube/certificates";
import { createAuthority } from "@firebolt-operator/kube/testing";
import type { HookId } from "../../../src/admission/registration/hooks.ts";
import { silentAdmissionMetrics } from "../../../src/admission/server/admission-metrics.ts";
import { type AdmissionServerOptions, createAdmissionServer } from "../../../src/admission/server/admission-server.ts";
import type { Validator } from "../../../src/admission/validators/validator.ts";
import { hookOf } from "./review-fixtures.ts";

export interface HeldCertificate extends CertificateSource {
  readonly holder: PairHolder;
}

/** A source whose pair the test sets. */
export function heldCertificate(pair?: KeyPair): HeldCertificate {
  const holder = new PairHolder();
  if (pair !== undefined) holder.set(inspectPair(pair));
  return {
    holder,
    get current() {
      return holder.current;
    },
    run: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    whenLoaded: (signal) => holder.whenLoaded(signal),
    onPair: (listener) => holder.onPair(listener),
  };
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
}

export interface AdmissionLoopback extends AsyncDisposable {
  readonly port: number;
  readonly authority: ReturnType<typeof createAuthority>;
  readonly certificate: HeldCertificate;
  /** POSTs JSON to the engines' webhook by default. */
  send(sent: Sent): Promise<HttpAnswer>;
  socket(): Promise<TLSSocket>;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export const serverPair = (authority: ReturnType<typeof createAuthority>): KeyPair =>
  authority.issue({ commonName: "hooks", usages: ["server"], hosts: ["127.0.0.1"] });

export async function startAdmissionLoopback(
  validators: Partial<Readonly<Record<HookId, Validator>>>,
  options: Partial<AdmissionServerOptions> = {},
): Promise<AdmissionLoopback> {
  const authority = createAuthority("hooks");
  const certificate = heldCertificate(serverPair(authority));
  const allow: Validator = async () => ({ type: "allow", warnings: [] });
  const server = createAdmissionServer({
    host: "127.0.0.1",
    port: 0,
    certificate,
    validators: {
      "mutate-instance": allow,
      "validate-instance": allow,
      "validate-engine": allow,
      "validate-engine-class": allow,
      ...validators,
    },
    clock: systemClock,
    logger: silentLogger,
    metrics: silentAdmissionMetrics,
    overlapMs: 0,
    ...options,
  });
  const stop = new AbortController();
  const ended = server.run(stop.signal);
  await Promise.race([ended, server.whenReady?.(stop.signal)]);
  const port = server.port ?? 0;
  const agent = new Agent({ ca: authority.certificate, keepAlive: true });
  return {
    port,
    authority,
    certificate,
    stop,
    ended,
    send: (sent) => post({ agent, ...sent }, port, authority.certificate),
    socket: () =>
      new Promise((resolve, reject) => {
        const socket = connect(
          { host: "127.0.0.1", port, ca: authority.certificate, ALPNProtocols: ["http/1.1"] },
          () => resolve(socket),
        );
        socket.once("error", reject);
      }),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      stop.abort();
      await ended;
    },
  };
}

export function post(sent: Sent, port: number, ca: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: "127.0.0.1",
      port,
      ca,
      ...(sent.agent === undefined ? {} : { agent: sent.agent }),
      method: sent.method ?? "POST",
      path: sent.path ?? hookOf("validate-engine").path,
      headers: { "content-type": "application/json", ...sent.headers },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", reject);
      incoming.once("end", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.end(sent.body);
  });
}
