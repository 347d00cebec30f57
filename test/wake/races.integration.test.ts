// Holds during other changes: an engine is stopped while queries arrive, a gateway is replaced while it holds. No query
// fails that could have been served.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { renderPreStopCommand } from "../../src/gateway/pre-stop.ts";
import { REPEAT_MS } from "../../src/wake-agent/wake-requester.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { startQueryLoad } from "../harness/envoy/query-load.ts";
import { AUTO_STOP, openWakeHarness, openWakePlane, type WakeHarness, type WakePlane } from "./support/wake-harness.ts";

let plane: WakePlane;
let harness: WakeHarness;

beforeAll(async () => {
  plane = await openWakePlane();
});
afterEach(() => harness?.[Symbol.asyncDispose]());
afterAll(() => plane?.[Symbol.asyncDispose]());

const STOPS = 20;
/** Ends what hangs. */
const HOOK_MS = 150_000;

test(`an engine is stopped ${STOPS} times under load: every query is served before, or wakes it`, async () => {
  harness = await openWakeHarness(plane, "race");
  await harness.engineHarness.createEngine("e", { replicas: 1, autoStop: AUTO_STOP });
  await harness.engineHarness.settled("e", 0);
  const gateway = await harness.gateway();
  const client = harness.client(gateway);
  const load = startQueryLoad(client, { engine: "e", clients: 6 });
  await eventually(() => load.answered.length > 50);
  for (let stop = 0; stop < STOPS; stop++) {
    // Occasionally from an idle gateway, which caches the agent's responses for longer.
    if (stop % 4 === 0)
      await eventually(async () => !(await gateway.envoy.admin("/runtime")).includes('"final_value": "100"'));
    const edits = harness.engineHarness.engine("e").metadata?.generation ?? 0;
    await harness.engineHarness.edit("e", { replicas: 0 });
    // Stopped and started again: an edit each. The generation that drained may be the one that serves again.
    await harness.engineHarness.until(
      "e",
      ({ status, spec, metadata }) =>
        status?.phase === "stable" && spec?.replicas === 1 && (metadata?.generation ?? 0) >= edits + 2,
      "woken again",
    );
    const answered = load.answered.length;
    await eventually(() => load.answered.length > answered + 50);
  }
  await load.stop();
  console.log(`${STOPS} stops under load: ${client.sent} requests sent, ${client.failed} failed`);
  expect(client.failed).toBe(0);
  expect(harness.engineHarness.broken()).toEqual([]);
}, 900_000);

test("a gateway is replaced while it holds: queries whose engine becomes ready in time succeed, the others get 503 before it terminates", async () => {
  harness = await openWakeHarness(plane, "replaced");
  await harness.engineHarness.createEngine("soon", { replicas: 1, autoStop: AUTO_STOP });
  await harness.engineHarness.settled("soon", 0);
  const [pod] = harness.engineHarness.pods("soon", 0);
  if (pod === undefined) throw new Error("soon has no pod");
  await harness.engineHarness.setPodReady(pod, false);
  await harness.createStopped("never", { template: { spec: { nodeSelector: { "example.com/never": "yes" } } } });
  const [leaving, staying] = [await harness.gateway(), await harness.gateway()];
  const client = harness.client(leaving);
  const check = `http://127.0.0.1:${leaving.holdPort}/check?engine=soon`;
  await eventually(async () => (await fetch(check)).status === 202);
  const soon = Array.from({ length: 20 }, () => client.query({ engine: "soon" }));
  const never = Array.from({ length: 20 }, () => client.send({ engine: "never" }));
  await eventually(async () => (await leaving.demand("pending_holds", "never")) === 20);
  await eventually(async () => (await leaving.demand("pending_holds", "soon")) === 20);
  const [shell = "", ...args] = renderPreStopCommand(leaving.envoy.adminPort);
  const hook = promisify(execFile)(shell, args, { timeout: HOOK_MS });
  const end = hook.then(() => leaving.envoy.process.stop());
  await eventually(async () => (await leaving.envoy.admin("/ready")).startsWith("DRAINING"));
  // The last step of a start, and the only one that is left to the few seconds in which the gateway still waits.
  await harness.engineHarness.setPodReady(pod, true);
  await Promise.all(soon);
  const refused = await Promise.all(never);
  expect(refused.map(({ status, headers }) => [status, headers["retry-after"]])).toEqual(never.map(() => [503, "10"]));
  await end;
  // The other gateway takes the place: the engine is up for it.
  await harness.client(staying).query({ engine: "soon" });
  expect(client.failed).toBe(0);
}, 300_000);

test("two gateways hold for the same engine: one stamp for both", async () => {
  harness = await openWakeHarness(plane, "two");
  await harness.createStopped("e", { template: { spec: { nodeSelector: harness.engineHarness.hold } } });
  const gateways = [await harness.gateway(), await harness.gateway()];
  const clients = gateways.map((gateway) => harness.client(gateway));
  const startedMs = performance.now();
  const first = clients[0]?.query({ engine: "e" });
  await eventually(() => harness.stamps("e") >= 1);
  // The second agent has a watch of its own, and nothing shows what it has seen.
  const stampedMs = performance.now();
  await eventually(() => performance.now() > stampedMs + 3_000);
  const second = clients[1]?.query({ engine: "e" });
  await eventually(async () => (await gateways[1]?.demand("pending_holds", "e")) === 1);
  await harness.engineHarness.release();
  await Promise.all([first, second]);
  const heldMs = performance.now() - startedMs;
  expect(harness.stamps("e")).toBeLessThanOrEqual(1 + Math.floor(heldMs / REPEAT_MS));
});
