// Idle connections, as the API server keeps them: they stay open until the next request, whether they were used before
// or not.
import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import { IDLE_CONNECTION_MS } from "@firebolt-operator/kube/serving";
import { expect, test } from "vitest";
import { startAdmissionLoopback } from "../../../test/admission/support/loopback.ts";
import { hookOf, review } from "../../../test/admission/support/review-fixtures.ts";
import { engine } from "../../../test/harness/fixtures/manifests.ts";
import type { Validator } from "../validators/validator.ts";

const allow: Validator = async () => ({ type: "allow", warnings: [] });
const IDLE_MS = 1_000;
const timeouts = { idleTimeout: IDLE_MS, connectionsCheckingInterval: 20 };
const body = JSON.stringify(review("validate-engine", { object: engine({ name: "e" }) }));
const QUESTION = `POST ${hookOf("validate-engine").path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

async function request(socket: TLSSocket): Promise<string> {
  socket.write(QUESTION);
  const [response] = (await once(socket, "data")) as [Buffer];
  return response.toString("latin1").split("\r\n")[0] ?? "";
}

test("the API server closes idle connections after 90 s, always before this server does", () => {
  expect(IDLE_CONNECTION_MS).toBeGreaterThan(90_000);
});

test("an unused connection is kept as long as a used one", async () => {
  await using loopback = await startAdmissionLoopback({ "validate-engine": allow }, { timeouts });
  const open = async (use: (socket: TLSSocket) => Promise<unknown>) => {
    const openedMs = performance.now();
    const socket = await loopback.socket();
    const closed = once(socket.resume(), "close").then(() => performance.now());
    return { said: await use(socket), keptMs: (await closed) - openedMs };
  };
  const [used, unused] = await Promise.all([open(request), open(async () => undefined)]);
  expect(used.said).toBe("HTTP/1.1 200 OK");
  // A timer may be a millisecond early.
  for (const { keptMs } of [used, unused]) expect(keptMs).toBeGreaterThan(IDLE_MS - 10);
});
