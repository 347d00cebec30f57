// The part of the wake agent that a gateway talks to, with engines that never change: the real discovery and hold
// servers, without the watches. Arguments: hold port, discovery port, number of engines, addresses of the pods.
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { createDiscoveryServer } from "../../src/wake-agent/discovery/discovery-server.ts";
import { EngineDiscovery } from "../../src/wake-agent/discovery/engine-discovery.ts";
import { createHoldServer } from "../../src/wake-agent/servers.ts";

const [holdPort = "", discoveryPort = "", engines = "", ...addresses] = process.argv.slice(2);
const pods = addresses.map((address, index) => ({ address, pod: `engine-g0-${index}` }));
const known = new Set(["hot", ...Array.from({ length: Number(engines) }, (_, index) => `engine-${index}`)]);
const firstEpoch = Date.now();
const discovery = new EngineDiscovery({
  clock: systemClock,
  logger: silentLogger,
  namespace: "bench",
  endpoints: (engine) => (known.has(engine) ? pods : []),
  exists: (engine) => known.has(engine),
  invalidate: () => undefined,
});
const ready = async () => ({ status: 200, decision: "ready" }) as const;
const servers = [
  createDiscoveryServer({ port: Number(discoveryPort), discovery, logger: silentLogger }),
  createHoldServer({
    port: Number(holdPort),
    admission: { check: ready, hold: ready },
    epoch: () => firstEpoch,
    publish: (engine) => discovery.publish(engine),
    logger: silentLogger,
  }),
];
const running = servers.map((server) => server.run(new AbortController().signal));
await Promise.all(servers.map((server) => server.whenListening));
process.stdout.write("ready\n");
await Promise.all(running);
