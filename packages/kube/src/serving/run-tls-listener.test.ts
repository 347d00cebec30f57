// The order in which a listener and its certificate start and stop, on a real port of loopback.
import { expect, test } from "vitest";
import { type CertificateSource, inspectPair, PairHolder } from "../certificates/serving-certificate.ts";
import { untilAborted } from "../core/until-aborted.ts";
import { createAuthority } from "../testing/authority.ts";
import { runTlsListener } from "./run-tls-listener.ts";
import { TlsListener } from "./tls-listener.ts";

const authority = createAuthority("test");
const issue = () => inspectPair(authority.issue({ commonName: "a", usages: ["server"], hosts: ["127.0.0.1"] }));

/** A source that runs until its signal fires, or fails at once. */
class Source extends PairHolder implements CertificateSource {
  readonly #log: string[];
  readonly #failure: Error | undefined;

  constructor(log: string[], failure?: Error) {
    super();
    this.#log = log;
    this.#failure = failure;
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await untilAborted(new Promise<void>(() => undefined), signal).catch(() => undefined);
    this.#log.push("certificate stopped");
  }
}

function setup(failure?: Error) {
  const log: string[] = [];
  const certificate = new Source(log, failure);
  const listener = new TlsListener({ port: 0, host: "127.0.0.1", http2: false, respond: async () => undefined });
  const listening = Promise.withResolvers<void>();
  const serving = {
    listener,
    certificate,
    onListening: () => {
      log.push("listening");
      listening.resolve();
    },
    stop: async () => {
      await listener.stop(AbortSignal.abort());
      log.push("listener stopped");
    },
  };
  return { log, certificate, listener, listening: listening.promise, serving };
}

test("it listens once there is a certificate, and the certificate outlives the listener", async () => {
  const { log, certificate, listener, listening, serving } = setup();
  const stop = new AbortController();
  const running = runTlsListener(serving, stop.signal);
  expect(listener.port).toBeUndefined();
  certificate.set(issue());
  await listening;
  expect(listener.port).toBeGreaterThan(0);
  stop.abort();
  await running;
  expect(log).toEqual(["listening", "listener stopped", "certificate stopped"]);
});

test("without a certificate it fails with the error of its source", async () => {
  const { log, serving } = setup(new Error("no certificate"));
  await expect(runTlsListener(serving, new AbortController().signal)).rejects.toThrow("no certificate");
  expect(log).toEqual(["listener stopped"]);
});

test("a stop before there is a certificate is clean", async () => {
  const { log, serving } = setup();
  const stop = new AbortController();
  const running = runTlsListener(serving, stop.signal);
  stop.abort();
  await running;
  expect(log).toEqual(["listener stopped", "certificate stopped"]);
});
