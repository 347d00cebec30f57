// A stand-in for the engine image's program, with the same command line, ports, health, metrics and shutdown. It computes queries in
// an embedded database and stores no data: `main.ts server --node <index> --data-dir <folder>`.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import { Server as TcpServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import { checkOwnNode, type EngineConfig, parseEngineConfig } from "./engine-config.ts";
import { EngineState } from "./engine-state.ts";
import { createHealthServer } from "./health-server.ts";
import { createMetricsServer, type Gauges } from "./metrics-server.ts";
import { createQueryServer } from "./query-server.ts";
import { type EngineSettings, readEngineSettings } from "./settings.ts";
import { openSqlEngine } from "./sql-engine.ts";
import { waitForStart } from "./start-conditions.ts";

const PORTS = ENGINE_CONTRACT.ports;

interface Shutdown {
  readonly state: EngineState;
  readonly query: Server;
  readonly graceMs: number;
  readonly quietMs: number;
}

/** How long connections that were accepted last may take to send a request. */
const LAST_REQUESTS_MS = 250;

const log = (message: string, fields: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ message, ...fields })}\n`);
};

/** With its time, like long queries: tests of drains compare scrapes with the queries that ran. */
const logScrape = (gauges: Gauges): void => log("scraped", { atMs: Date.now(), ...gauges });

async function listen(server: Server, port: number, address: string): Promise<void> {
  server.listen(port, address);
  await once(server, "listening");
}

async function main(settings: EngineSettings, config: EngineConfig): Promise<void> {
  const state = new EngineState();
  const identity = {
    pod: settings.podName,
    generation: /-g(\d+)-\d+$/.exec(settings.podName)?.[1] ?? "",
    configHash: config.hash,
  };
  const query = createQueryServer({
    state,
    identity,
    runSql: openSqlEngine(),
    onMarker: (id) => log("marker", { id }),
    onWait: (change, query) => log(`query ${change}`, { atMs: Date.now(), ...query }),
  });
  const health = createHealthServer({ state, config, crash: () => process.exit(1) });
  const terminated = once(process, "SIGTERM");
  await listen(health, PORTS.health, settings.bindAddress);
  await listen(createMetricsServer(state, logScrape), PORTS.metrics, settings.bindAddress);
  await listen(query, PORTS.query, settings.bindAddress);
  // With the times of both ends of its start: observers of a wake tell it from the kubelet's work.
  const times = { startedAtMs: Math.round(performance.timeOrigin), atMs: Date.now() };
  log("listening", { pod: settings.podName, address: settings.bindAddress, ...times });
  if (settings.exitAfterMs !== undefined) setTimeout(() => process.exit(1), settings.exitAfterMs).unref();
  if (!settings.neverReady) {
    const shutdown = new AbortController();
    void terminated.then(() => shutdown.abort());
    void markStarted(state, waitForStart(config, settings, shutdown.signal), shutdown.signal);
  }
  await terminated;
  await shutDown({ state, query, graceMs: config.terminationGraceMs, quietMs: settings.exitQuietMs });
}

async function markStarted(state: EngineState, conditions: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await conditions;
    state.started = true;
    log("ready");
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Reject new queries, finish accepted ones, wait until no client sends requests, then close the listener and exit. */
async function shutDown({ state, query, graceMs, quietMs }: Shutdown): Promise<void> {
  const deadlineMs = performance.now() + graceMs;
  state.fenced = true;
  log("shutting down");
  const grace = new AbortController();
  await Promise.race([state.untilIdle(), sleep(graceMs, undefined, { signal: grace.signal }).catch(() => undefined)]);
  grace.abort();
  state.killQueries();
  await state.untilIdle();
  // Closing a listener resets the connections in its backlog, and their queries cannot be distinguished from queries
  // that ran: it is closed when clients have found another pod.
  await untilQuiet(state, quietMs, deadlineMs);
  // Only the listener is closed, as a TCP server closes: an HTTP server would also cut connections whose query is on its way.
  const closed = once(query, "close");
  TcpServer.prototype.close.call(query);
  await Promise.race([closed, sleep(LAST_REQUESTS_MS)]);
  log("ended");
  process.exit(0);
}

async function untilQuiet(state: EngineState, quietMs: number, deadlineMs: number): Promise<void> {
  state.lastRefusalMs = performance.now();
  for (;;) {
    const now = performance.now();
    const waitMs = Math.min(state.lastRefusalMs + quietMs, deadlineMs) - now;
    if (waitMs <= 0) return;
    await sleep(waitMs);
  }
}

const settings = readEngineSettings(process.argv.slice(2), process.env);
const config = parseEngineConfig(readFileSync(join(settings.dataDir, ENGINE_CONTRACT.configFile), "utf8"));
checkOwnNode(config, settings.nodeIndex, settings.podName);
await main(settings, config);
