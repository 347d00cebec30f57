// The released SDKs in front of a real gateway: each names its engine by host, or uses the default engine, because it can send neither
// header nor parameter.
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { expectedOf } from "../harness/sdk/expected.ts";
import { checkWithSdk, type SdkLoad, SDKS, startSdk } from "../harness/sdk/sdk-clients.ts";
import { type GatewayHarness, openGatewayHarness } from "./support/gateway-harness.ts";

const DOMAIN = "fb.example.com";
const hosts = { [DOMAIN]: "127.0.0.1", [`e2.${DOMAIN}`]: "127.0.0.1", [`e2.other.example`]: "127.0.0.1" };

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await openGatewayHarness({
    selection: { hostDomains: [DOMAIN], defaultEngine: "e1", service: "main-gateway" },
  });
  for (const engine of ["e1", "e2"]) harness.publish(engine, [await harness.startEngine({ engine })]);
});
afterAll(() => harness[Symbol.asyncDispose]());

const check = (sdk: (typeof SDKS)[number], host: string) =>
  checkWithSdk(sdk, `http://${host}:${harness.clientPort}`, { workspace: harness.workspace, hosts });

test.each(SDKS)("%s: every result type, parameters and errors, by host", async (sdk) => {
  expect(await check(sdk, `e2.${DOMAIN}`)).toEqual(expectedOf(sdk, "e2-g0-0"));
});

test.each(SDKS)("%s: the same from the default engine", async (sdk) => {
  for (const host of [DOMAIN, "localhost", "127.0.0.1"])
    expect(await check(sdk, host)).toEqual(expectedOf(sdk, "e1-g0-0"));
});

test.each(SDKS)("%s shows the gateway's own words when the host is wrong", async (sdk) => {
  await expect(check(sdk, "e2.other.example")).rejects.toThrow(
    new RegExp(`host "e2\\.other\\.example:${harness.clientPort}" is in no domain of this gateway`),
  );
});

test.each(SDKS)("%s: 50 concurrent queries while the engine's pods are replaced, none lost", async (sdk) => {
  const engine = `rolled-by-${sdk}`;
  const name = `${engine}.${DOMAIN}`;
  const old = await harness.startEngine({ engine });
  harness.publish(engine, [old]);
  const url = `http://${name}:${harness.clientPort}`;
  const run = await startSdk(sdk, ["load", url], { workspace: harness.workspace, hosts: { [name]: "127.0.0.1" } });
  const answered = (pod: string) =>
    eventually(() => run.output().includes(pod), { timeoutMs: 60_000, describe: `an answer of ${pod}` });
  await answered(`${engine}-g0-0`);
  harness.publish(engine, [await harness.startEngine({ engine, generation: 1 })]);
  await answered(`${engine}-g1-0`);
  await old.process.stop();
  const load = (await run.finish()) as SdkLoad;
  console.log(`${sdk}: ${load.sent} sent, ${load.failures.length} failed`);
  expect(load.failures).toEqual([]);
  expect(Object.keys(load.pods).sort()).toEqual([`${engine}-g0-0`, `${engine}-g1-0`]);
});
