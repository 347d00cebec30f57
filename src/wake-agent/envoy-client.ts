// The agent's requests to the Envoy in its pod: allocated memory, drain state, and whether Envoy reaches an engine.
// Small requests with a deadline; a failure is a result, never an exception.
import { request } from "node:http";
import { ENGINE_CONTRACT } from "../api/engine-contract.ts";
import { FALLBACK_ROUTE, WAKE_CHANGING, WAKE_HEADERS } from "../api/wake-protocol.ts";
import type { Reached } from "./reachability-probe.ts";

const DEADLINE_MS = 2_000;
/** Envoy's first DNS lookup of an engine may take this long. */
const PROBE_DEADLINE_MS = 6_500;
const MOST_BYTES = 64 * 1024;

interface EnvoyResponse {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

interface EnvoyRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
  readonly signal: AbortSignal;
}

const STATS = {
  allocated: "server.memory_allocated",
  byName: `vhost.default.route.${FALLBACK_ROUTE}.upstream_rq_total`,
};

export interface EnvoyStats {
  readonly allocatedBytes: number | undefined;
  /** Queries of clients whose engine was resolved by name. Envoy has the number from the first of them on. */
  readonly queriesByName: number;
}

/** Undefined when Envoy did not respond. */
export async function readStats(adminUrl: string, signal: AbortSignal): Promise<EnvoyStats | undefined> {
  const filter = encodeURIComponent(`^(${Object.values(STATS).join("|")})$`);
  const response = await send({ url: `${adminUrl}/stats?filter=${filter}`, signal });
  if (response?.status !== 200) return undefined;
  const values = new Map(response.body.split("\n").map((line) => line.split(": ") as [string, string]));
  const allocated = Number(values.get(STATS.allocated) ?? Number.NaN);
  return {
    allocatedBytes: Number.isNaN(allocated) ? undefined : allocated,
    queriesByName: Number(values.get(STATS.byName) ?? 0),
  };
}

/** Whether Envoy's health check was set to fail: its pod is about to terminate. */
export async function isDraining(adminUrl: string, signal: AbortSignal): Promise<boolean> {
  const response = await send({ url: `${adminUrl}/ready`, signal });
  return response?.body.startsWith("DRAINING") ?? false;
}

/** Sets for all workers of the gateway whether their knowledge about engines is changing. Best effort. */
export async function setChanging(adminUrl: string, changing: boolean, signal: AbortSignal): Promise<void> {
  await send({
    url: `${adminUrl}/runtime_modify?${WAKE_CHANGING.runtimeKey}=${changing ? 100 : 0}`,
    method: "POST",
    signal,
  });
}

/**
 * Requests the engine's readiness endpoint through Envoy. A response of Envoy's own lacks the upstream service time.
 */
export async function probeThroughEnvoy(probeUrl: string, engine: string, signal: AbortSignal): Promise<Reached> {
  const headers = { [WAKE_HEADERS.engine]: engine };
  const response = await send({
    url: `${probeUrl}${ENGINE_CONTRACT.endpoints.ready}`,
    headers,
    deadlineMs: PROBE_DEADLINE_MS,
    signal,
  });
  if (response === undefined) return "unavailable";
  const fromEngine = response.headers["x-envoy-upstream-service-time"] !== undefined;
  return fromEngine && response.status !== 503 ? "yes" : "not yet";
}

/** Undefined: no response. */
function send({
  url,
  method = "GET",
  headers = {},
  deadlineMs = DEADLINE_MS,
  signal,
}: EnvoyRequest): Promise<EnvoyResponse | undefined> {
  return new Promise((resolve) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const call = request(url, { method, agent: false, headers, signal: limit });
    call.once("error", () => resolve(undefined));
    call.once("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        if (body.length < MOST_BYTES) body += text;
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      response.once("error", () => resolve(undefined));
    });
    call.end();
  });
}
