// Connections without credentials that announce bodies and do not send them, or send half of them: reviews are answered all the same.
// Time is moved by hand and stands still meanwhile, so an answer shows that nothing waited for a stranger's time to be over.
import { Agent } from "node:https";
import type { TLSSocket } from "node:tls";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { expect, test, vi } from "vitest";
import { type AdmissionLoopback, startAdmissionLoopback } from "../../test/support/admission-loopback.ts";
import { hookOf, parseResponse, review } from "../../test/support/admission-review.ts";
import { engine } from "../../test/support/manifests.ts";
import { type AdmissionMetrics, silentAdmissionMetrics } from "./admission-metrics.ts";
import type { AdmissionServerOptions } from "./admission-server.ts";
import { BODY_LIMIT_BYTES, BODY_TIMEOUT_MS } from "./exchange.ts";

const STRANGERS = 60;
const WITHIN = { timeout: 30_000, interval: 5 };
const question = (padding = 0): string =>
  JSON.stringify(
    review("validate-engine", {
      object: { ...engine({ name: "e" }), metadata: { name: "e", annotations: { pad: "x".repeat(padding) } } },
    }),
  );

interface Besieged extends AsyncDisposable {
  readonly loopback: AdmissionLoopback;
  readonly clock: ManualClock;
  /** Responses to the unknown connections so far. */
  readonly answers: string[];
  /** Connects as many, each of which announces the largest body and sends this much of it. */
  besiege(sent: Buffer): Promise<void>;
}

async function startBesieged(options: Partial<AdmissionServerOptions> = {}): Promise<Besieged> {
  const clock = new ManualClock();
  let begun = 0;
  const metrics: AdmissionMetrics = { ...silentAdmissionMetrics, started: () => void begun++ };
  const loopback = await startAdmissionLoopback({}, { clock, metrics, ...options });
  const sockets: TLSSocket[] = [];
  const answers: string[] = [];
  return {
    loopback,
    clock,
    answers,
    async besiege(sent) {
      const before = begun;
      for (let index = 0; index < STRANGERS; index++) {
        const socket = await loopback.socket();
        sockets.push(socket);
        socket.on("error", () => undefined);
        // The first piece has the status; the rest may come with it or after it.
        socket.once("data", (chunk: Buffer) => answers.push(chunk.toString("latin1").split("\r\n")[0] ?? ""));
        const head = `POST ${hookOf("validate-engine").path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${BODY_LIMIT_BYTES}\r\n\r\n`;
        socket.on("data", () => undefined);
        socket.write(head);
        socket.write(sent);
      }
      await vi.waitUntil(() => begun === before + STRANGERS, WITHIN);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      loopback.stop.abort();
      // The stop waits for this clock too.
      await clock.advance(0);
      await loopback[Symbol.asyncDispose]();
    },
  };
}

test("60 silent connections with announced bodies delay no review, and are rejected after the timeout", async () => {
  await using besieged = await startBesieged();
  const { loopback, clock, answers } = besieged;
  await besieged.besiege(Buffer.alloc(0));
  for (let index = 0; index < 5; index++)
    expect(parseResponse((await loopback.send({ body: question() })).body).allowed).toBe(true);
  expect(parseResponse((await loopback.send({ body: question(1_000_000) })).body).allowed).toBe(true);
  expect(answers).toEqual([]);
  await clock.advance(BODY_TIMEOUT_MS);
  await vi.waitUntil(() => answers.length === STRANGERS, WITHIN);
  expect(new Set(answers)).toEqual(new Set(["HTTP/1.1 408 Request Timeout"]));
});

test("60 bodies that stop half-way use their share and no more: known connections have the rest, small reviews still fit", async () => {
  // Each of them sends more than its part of the half for unknown connections.
  await using besieged = await startBesieged({ limits: { requests: 64, bytes: 2 * 1024 * 1024, waiting: 2_000 } });
  const { loopback, answers } = besieged;
  const agent = new Agent({ ca: loopback.authority.certificate, keepAlive: true, maxSockets: 1 });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => agent.destroy());
  expect((await loopback.send({ agent, body: question() })).status).toBe(200);
  await besieged.besiege(Buffer.alloc(64 * 1024, "{"));
  expect((await loopback.send({ agent, body: question(500_000) })).status).toBe(200);
  expect((await loopback.send({ body: question() })).status).toBe(200);
  expect(answers).toEqual([]);
});
