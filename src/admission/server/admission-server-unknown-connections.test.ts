// Unknown connections that announce bodies and do not send them, or send half of them: reviews still get responses. The
// clock stands still meanwhile, so a response shows that no review waited for a timeout of such a connection.
import { Agent } from "node:https";
import type { TLSSocket } from "node:tls";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { expect, test, vi } from "vitest";
import { type AdmissionLoopback, startAdmissionLoopback } from "../../../test/admission/support/loopback.ts";
import { hookOf, parseResponse, review } from "../../../test/admission/support/review-fixtures.ts";
import { engine } from "../../../test/harness/fixtures/manifests.ts";
import { type AdmissionMetrics, silentAdmissionMetrics } from "./admission-metrics.ts";
import type { AdmissionServerOptions } from "./admission-server.ts";
import { BODY_LIMIT_BYTES, BODY_TIMEOUT_MS } from "./exchange.ts";

const CONNECTIONS = 60;
const WITHIN = { timeout: 30_000, interval: 5 };
const requestBody = (padding = 0): string =>
  JSON.stringify(
    review("validate-engine", {
      object: { ...engine({ name: "e" }), metadata: { name: "e", annotations: { pad: "x".repeat(padding) } } },
    }),
  );

interface Flooded extends AsyncDisposable {
  readonly loopback: AdmissionLoopback;
  readonly clock: ManualClock;
  /** Responses to the unknown connections so far. */
  readonly responses: string[];
  /** Connects as many, each of which announces the largest body and sends this much of it. */
  flood(sent: Buffer): Promise<void>;
}

async function startFlooded(options: Partial<AdmissionServerOptions> = {}): Promise<Flooded> {
  const clock = new ManualClock();
  let begun = 0;
  const metrics: AdmissionMetrics = { ...silentAdmissionMetrics, started: () => void begun++ };
  const loopback = await startAdmissionLoopback({}, { clock, metrics, ...options });
  const sockets: TLSSocket[] = [];
  const responses: string[] = [];
  return {
    loopback,
    clock,
    responses,
    async flood(sent) {
      const before = begun;
      for (let index = 0; index < CONNECTIONS; index++) {
        const socket = await loopback.socket();
        sockets.push(socket);
        socket.on("error", () => undefined);
        // The first piece has the status; the rest may come with it or after it.
        socket.once("data", (chunk: Buffer) => responses.push(chunk.toString("latin1").split("\r\n")[0] ?? ""));
        const head = `POST ${hookOf("validate-engine").path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${BODY_LIMIT_BYTES}\r\n\r\n`;
        socket.on("data", () => undefined);
        socket.write(head);
        socket.write(sent);
      }
      await vi.waitUntil(() => begun === before + CONNECTIONS, WITHIN);
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
  await using flooded = await startFlooded();
  const { loopback, clock, responses } = flooded;
  await flooded.flood(Buffer.alloc(0));
  for (let index = 0; index < 5; index++)
    expect(parseResponse((await loopback.send({ body: requestBody() })).body).allowed).toBe(true);
  expect(parseResponse((await loopback.send({ body: requestBody(1_000_000) })).body).allowed).toBe(true);
  expect(responses).toEqual([]);
  await clock.advance(BODY_TIMEOUT_MS);
  await vi.waitUntil(() => responses.length === CONNECTIONS, WITHIN);
  expect(new Set(responses)).toEqual(new Set(["HTTP/1.1 408 Request Timeout"]));
});

test("60 bodies that stop half-way use their share and no more: known connections have the rest, small reviews still fit", async () => {
  // Each of them sends more than its part of the half for unknown connections.
  await using flooded = await startFlooded({ limits: { requests: 64, bytes: 2 * 1024 * 1024, waiting: 2_000 } });
  const { loopback, responses } = flooded;
  const agent = new Agent({ ca: loopback.authority.certificate, keepAlive: true, maxSockets: 1 });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => agent.destroy());
  expect((await loopback.send({ agent, body: requestBody() })).status).toBe(200);
  await flooded.flood(Buffer.alloc(64 * 1024, "{"));
  expect((await loopback.send({ agent, body: requestBody(500_000) })).status).toBe(200);
  expect((await loopback.send({ body: requestBody() })).status).toBe(200);
  expect(responses).toEqual([]);
});
