// The discovery of engines against an Envoy in memory that follows the protocol: it subscribes, acknowledges in its own
// time, and comes back with what it holds.
import { silentLogger } from "@firebolt-operator/kube";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { beforeEach, expect, test } from "vitest";
import { type DiscoveryPeer, EngineDiscovery, type EngineEndpoint, WITHDRAW_MS } from "./engine-discovery.ts";
import { type DiscoveryRequest, type DiscoveryResponse, RESOURCE_TYPES } from "./messages.ts";

let clock: ManualClock;
let pods: Map<string, readonly EngineEndpoint[]>;
let invalidated: number;
let rejected: string[];
let discovery: EngineDiscovery;

const pod = (name: string, address = "10.0.0.1"): EngineEndpoint => ({ pod: name, address });

beforeEach(() => {
  clock = new ManualClock();
  pods = new Map([["e", [pod("e-g0-0")]]]);
  [invalidated, rejected] = [0, []];
  discovery = newDiscovery();
});

function newDiscovery(): EngineDiscovery {
  return new EngineDiscovery({
    clock,
    namespace: "ns",
    logger: { ...silentLogger, error: (_, error) => void rejected.push(String(error)) },
    endpoints: (engine) => pods.get(engine) ?? [],
    exists: (engine) => pods.has(engine),
    invalidate: () => void invalidated++,
  });
}

function request(kind: keyof typeof RESOURCE_TYPES, rest: Partial<DiscoveryRequest> = {}): DiscoveryRequest {
  const none = { subscribe: [], unsubscribe: [], initialVersions: new Map(), nonce: "", error: undefined };
  return { typeUrl: RESOURCE_TYPES[kind], ...none, ...rest };
}

/** Keeps what it accepts; `respond` takes the oldest response that it has not acknowledged. */
class Envoy {
  readonly received: DiscoveryResponse[] = [];
  readonly clusters = new Map<string, string>();
  readonly endpoints = new Map<string, string>();
  #peer: DiscoveryPeer | undefined;

  connect(to: EngineDiscovery): void {
    this.received.length = 0;
    this.#peer = to.connect((response) => this.received.push(response));
    this.#peer.receive(request("cluster", { subscribe: ["*"], initialVersions: new Map(this.clusters) }));
    // Envoy serves only after a response, and acknowledges that one too.
    expect(this.received[0]).toMatchObject({ kind: "cluster", name: undefined });
    this.#peer.receive(request("cluster", { nonce: this.received.shift()?.nonce ?? "" }));
    if (this.clusters.size > 0)
      this.#peer.receive(
        request("endpoints", { subscribe: [...this.clusters.keys()], initialVersions: new Map(this.endpoints) }),
      );
  }

  respond(error?: string): void {
    const response = this.received.shift();
    if (response === undefined) throw new Error("nothing was sent");
    const { kind, name = "", nonce, resource } = response;
    const store = kind === "cluster" ? this.clusters : this.endpoints;
    const isNew = kind === "cluster" && resource !== undefined && !this.clusters.has(name);
    if (error === undefined) {
      if (resource === undefined) store.delete(name);
      else store.set(name, resource.version);
    }
    if (isNew && error === undefined) this.#peer?.receive(request("endpoints", { subscribe: [name] }));
    this.#peer?.receive(request(kind, { nonce, error }));
    if (kind === "cluster" && resource === undefined) {
      this.endpoints.delete(name);
      this.#peer?.receive(request("endpoints", { unsubscribe: [name] }));
    }
  }

  async respondToAll(): Promise<void> {
    while (this.received.length > 0) this.respond();
    await clock.advance(0);
  }

  disconnect(): void {
    this.#peer?.close();
  }
}

async function published(engine: string): Promise<boolean | "waiting"> {
  let result: boolean | "waiting" = "waiting";
  void discovery.publish(engine).then((value) => {
    result = value;
  });
  await clock.advance(0);
  return result;
}

test("published-before-used: an engine counts once Envoy has accepted its cluster and then its endpoints", async () => {
  const envoy = new Envoy();
  expect(await discovery.publish("e")).toBe(false);
  envoy.connect(discovery);
  const publishing = discovery.publish("e");
  expect(envoy.received.map(({ kind, name }) => [kind, name])).toEqual([["cluster", "e"]]);
  envoy.respond();
  expect(envoy.received.map(({ kind, name }) => [kind, name])).toEqual([["endpoints", "e"]]);
  expect(discovery.isAccepted("e")).toBe(false);
  envoy.respond();
  expect(await publishing).toBe(true);
  expect(discovery.isAccepted("e")).toBe(true);
});

test("a new stream asks for its own acknowledgements; what Envoy names with the present version counts as one", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  void discovery.publish("e");
  await envoy.respondToAll();
  expect(await published("e")).toBe(true);
  const before = invalidated;
  envoy.disconnect();
  expect([await published("e"), discovery.connected, invalidated]).toEqual([false, false, before + 1]);
  pods.set("e", [pod("e-g1-0", "10.0.0.2")]);
  discovery.update("e");
  envoy.connect(discovery);
  expect(await published("e")).toBe("waiting");
  expect(envoy.received.map(({ kind }) => kind)).toEqual(["endpoints"]);
  await envoy.respondToAll();
  expect(await published("e")).toBe(true);
});

test("a restarted agent keeps what Envoy has and removes what no longer exists", async () => {
  const envoy = new Envoy();
  envoy.clusters.set("e", "old").set("deleted", "old");
  envoy.endpoints.set("e", "old").set("deleted", "old");
  envoy.connect(discovery);
  expect(discovery.engines).toEqual(["e"]);
  const sent = () => envoy.received.map(({ kind, name, resource }) => [kind, name, resource !== undefined]);
  expect(sent()).toContainEqual(["cluster", "e", true]);
  await envoy.respondToAll();
  // A worker may still send a query there.
  expect([...envoy.clusters.keys()]).toEqual(["e", "deleted"]);
  await clock.advance(5_000);
  expect(sent()).toContainEqual(["cluster", "deleted", false]);
  await envoy.respondToAll();
  expect([...envoy.clusters.keys()]).toEqual(["e"]);
  expect(await published("e")).toBe(true);
});

test("an older stream no longer counts, whatever it acknowledges", async () => {
  const [old, next] = [new Envoy(), new Envoy()];
  old.connect(discovery);
  const publishing = discovery.publish("e");
  next.connect(discovery);
  expect(await publishing).toBe(false);
  await old.respondToAll();
  expect(await published("e")).toBe("waiting");
  old.disconnect();
  expect(discovery.connected).toBe(true);
  await next.respondToAll();
  expect(await published("e")).toBe(true);
});

test("a switch is sent at once, and the engine counts again when Envoy has accepted it", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  void discovery.publish("e");
  await envoy.respondToAll();
  pods.set("e", [pod("e-g1-0", "10.0.0.2"), pod("e-g1-1", "10.0.0.3")]);
  discovery.update("e");
  expect(discovery.isAccepted("e")).toBe(false);
  expect([...discovery.generations("e")]).toEqual([[1, 2]]);
  expect(envoy.received).toHaveLength(1);
  await envoy.respondToAll();
  expect(discovery.isAccepted("e")).toBe(true);
  // The same again is not sent again.
  discovery.update("e");
  expect(envoy.received).toHaveLength(0);
});

test("last-endpoints-linger: without ready pods the last ones stay for a moment, unless others come", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  void discovery.publish("e");
  await envoy.respondToAll();
  pods.set("e", []);
  discovery.update("e");
  await clock.advance(WITHDRAW_MS - 1);
  expect(envoy.received).toHaveLength(0);
  expect([...discovery.generations("e")]).toEqual([[0, 1]]);
  expect(await published("e")).toBe(false);
  await clock.advance(1);
  expect(envoy.received).toHaveLength(1);
  expect([...discovery.generations("e")]).toEqual([]);
  await envoy.respondToAll();
  expect(await published("e")).toBe(false);
  pods.set("e", [pod("e-g1-0")]);
  discovery.update("e");
  expect(envoy.received).toHaveLength(1);
  pods.set("e", []);
  discovery.update("e");
  pods.set("e", [pod("e-g1-0")]);
  discovery.update("e");
  await clock.advance(60_000);
  expect([...discovery.generations("e")]).toEqual([[1, 1]]);
});

test("what Envoy rejects is counted and logged, and the engine is resolved by name", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  const publishing = discovery.publish("e");
  envoy.respond("no such field");
  expect(await publishing).toBe(false);
  expect([discovery.rejections, rejected]).toEqual([1, ["Error: no such field"]]);
  expect(await published("e")).toBe(false);
  expect(discovery.connected).toBe(true);
});

test("an Envoy that does not acknowledge delays a check by a second, and no longer", async () => {
  new Envoy().connect(discovery);
  const publishing = discovery.publish("e");
  await clock.advance(1_000);
  expect(await publishing).toBe(false);
});

test("a deleted engine is removed after its last queries; one that is used keeps its cluster, one that is not loses it", async () => {
  const envoy = new Envoy();
  pods.set("unused", [pod("unused-g0-0")]);
  envoy.connect(discovery);
  void discovery.publish("e");
  void discovery.publish("unused");
  await envoy.respondToAll();
  for (let count = 0; count < 4; count++) {
    const before = discovery.renumbered;
    await clock.advance(300_000);
    discovery.sweep();
    expect(discovery.renumbered).toBeGreaterThan(before);
    await discovery.publish("e");
  }
  await envoy.respondToAll();
  expect([...envoy.clusters.keys()]).toEqual(["e"]);
  pods.delete("e");
  discovery.update("e");
  expect(discovery.engines).toEqual(["e"]);
  await clock.advance(5_000);
  await envoy.respondToAll();
  expect([discovery.engines, envoy.clusters.size, envoy.endpoints.size]).toEqual([[], 0, 0]);
});

test("five hundred engines at once are published, each by itself", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  const names = Array.from({ length: 500 }, (_, index) => `e-${index}`);
  for (const name of names) pods.set(name, [pod(`${name}-g0-0`)]);
  const publishing = Promise.all(names.map((name) => discovery.publish(name)));
  await envoy.respondToAll();
  expect(new Set(await publishing)).toEqual(new Set([true]));
});

test("an engine that Envoy accepts late makes the gateway check again: it would resolve the name until then", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  const publishing = discovery.publish("e");
  await clock.advance(1_000);
  expect(await publishing).toBe(false);
  const before = invalidated;
  await envoy.respondToAll();
  expect(invalidated).toBe(before + 1);
  expect(await published("e")).toBe(true);
  pods.set("e", [pod("e-g1-0", "10.0.0.2")]);
  discovery.update("e");
  await envoy.respondToAll();
  expect(invalidated).toBe(before + 1);
});

test("without a watch of endpoints nothing is sent to clusters, and the gateway checks again at both ends of that time", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  void discovery.publish("e");
  await envoy.respondToAll();
  const before = invalidated;
  discovery.suspend(true);
  discovery.suspend(true);
  expect([await published("e"), invalidated]).toEqual([false, before + 1]);
  discovery.suspend(false);
  expect([await published("e"), invalidated]).toEqual([true, before + 2]);
});

test("endpoints that Envoy rejects make the gateway check again: it still has the former ones", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  void discovery.publish("e");
  await envoy.respondToAll();
  const before = invalidated;
  pods.set("e", [pod("e-g1-0", "10.0.0.2")]);
  discovery.update("e");
  envoy.respond("no");
  expect([invalidated, await published("e")]).toEqual([before + 1, false]);
});

test("a stream that requests nothing replaces none; one that does ends the former", async () => {
  const envoy = new Envoy();
  envoy.connect(discovery);
  void discovery.publish("e");
  await envoy.respondToAll();
  let ended = 0;
  const silent = discovery.connect(
    () => undefined,
    () => void ended++,
  );
  expect([discovery.connected, await published("e")]).toEqual([true, true]);
  silent.close();
  expect([discovery.connected, await published("e")]).toEqual([true, true]);
  const second = discovery.connect(
    () => undefined,
    () => void ended++,
  );
  second.receive(request("cluster", { subscribe: ["*"] }));
  expect([discovery.connected, ended]).toEqual([true, 0]);
  new Envoy().connect(discovery);
  expect([discovery.connected, ended]).toEqual([true, 1]);
  second.close();
  expect(discovery.connected).toBe(true);
});
