// The health port: the kubelet's probes, and the switches that tests turn. The switches exist only in the stand-in.
import { createServer, type Server } from "node:http";
import { ENGINE_CONTRACT, QUERY_KINDS, type QueryKind } from "../../../src/api/engine-contract.ts";
import type { EngineConfig } from "./engine-config.ts";
import { type EngineState, METRICS_MODES } from "./engine-state.ts";

const ENDPOINT = ENGINE_CONTRACT.endpoints;

export interface HealthServerOptions {
  readonly state: EngineState;
  readonly config: EngineConfig;
  /** Ends the process at once, as a crash would. */
  readonly crash: () => void;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export function createHealthServer(options: HealthServerOptions): Server {
  return createServer((request, response) => {
    const { status, body } = answer(options, request.method ?? "GET", new URL(request.url ?? "/", "http://engine"));
    request.resume();
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(body));
  });
}

function answer({ state, config, crash }: HealthServerOptions, method: string, url: URL): Answer {
  const on = url.searchParams.get("v") === "1";
  switch (`${method} ${url.pathname}`) {
    case `GET ${ENDPOINT.ready}`:
      return { status: state.ready ? 200 : 503, body: { ready: state.ready } };
    case `GET ${ENDPOINT.live}`:
      return { status: 200, body: { live: true } };
    case "GET /test/config":
      return { status: 200, body: config.document };
    case "POST /test/ready":
      state.readyOverride = on;
      return OK;
    case "POST /test/fence":
      state.fenced = on;
      return OK;
    case "POST /test/drop-answers":
      state.dropsAnswers = on;
      return OK;
    case "POST /test/hold":
      state.setHeld(on);
      return OK;
    case "POST /test/finish":
      state.finishQueries();
      return OK;
    case "POST /test/metrics":
      return setMetricsMode(state, url.searchParams.get("mode"));
    case "POST /test/gauge":
      for (const kind of QUERY_KINDS) setGauge(state, kind, url.searchParams.get(kind));
      return OK;
    case "POST /test/crash":
      crash();
      return OK;
    default:
      return { status: 404, body: { error: "not found" } };
  }
}

const OK: Answer = { status: 200, body: { ok: true } };

function setMetricsMode(state: EngineState, wanted: string | null): Answer {
  const mode = METRICS_MODES.find((known) => known === wanted);
  if (mode === undefined) return { status: 400, body: { error: `mode is one of ${METRICS_MODES.join(", ")}` } };
  state.metricsMode = mode;
  return OK;
}

/** An empty value gives the gauge back to the queries that really run. */
function setGauge(state: EngineState, kind: QueryKind, value: string | null): void {
  if (value === null) return;
  if (value === "") delete state.gaugeOverride[kind];
  else state.gaugeOverride[kind] = Number(value);
}
