// What the agent asks of the Envoy beside it: how much memory it has allocated, whether it is being drained, and whether it reaches
// an engine. Small requests with a deadline; a failure is an answer.
import { request } from "node:http";
import { ENGINE_CONTRACT } from "../api/engine-contract.ts";
import { WAKE_CHANGING, WAKE_HEADERS } from "../api/wake-protocol.ts";
import type { Reached } from "./reach.ts";

const DEADLINE_MS = 2_000;
/** The first look-up of an engine's name may take Envoy this long. */
const PROBE_DEADLINE_MS = 6_500;
const MOST_BYTES = 64 * 1024;

interface Page {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

interface Question {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
  readonly signal: AbortSignal;
}

/** Bytes; undefined when Envoy did not say. */
export async function readAllocatedBytes(adminUrl: string, signal: AbortSignal): Promise<number | undefined> {
  const page = await ask({ url: `${adminUrl}/stats?filter=^server.memory_allocated$`, signal });
  const match = page === undefined ? null : /^server\.memory_allocated: (\d+)$/m.exec(page.body);
  return match === null ? undefined : Number(match[1]);
}

/** Whether somebody told Envoy to fail its health check: its pod is about to end. */
export async function isDraining(adminUrl: string, signal: AbortSignal): Promise<boolean> {
  const page = await ask({ url: `${adminUrl}/ready`, signal });
  return page?.body.startsWith("DRAINING") ?? false;
}

/** Tells all workers of the gateway whether what they know about engines is changing. Best effort. */
export async function tellChanging(adminUrl: string, changing: boolean, signal: AbortSignal): Promise<void> {
  await ask({
    url: `${adminUrl}/runtime_modify?${WAKE_CHANGING.runtimeKey}=${changing ? 100 : 0}`,
    method: "POST",
    signal,
  });
}

/** Asks the engine's readiness page through Envoy. An answer that Envoy makes up itself lacks the engine's time. */
export async function attemptThroughEnvoy(probeUrl: string, engine: string, signal: AbortSignal): Promise<Reached> {
  const headers = { [WAKE_HEADERS.engine]: engine };
  const page = await ask({
    url: `${probeUrl}${ENGINE_CONTRACT.endpoints.ready}`,
    headers,
    deadlineMs: PROBE_DEADLINE_MS,
    signal,
  });
  if (page === undefined) return "cannot ask";
  const fromEngine = page.headers["x-envoy-upstream-service-time"] !== undefined;
  return fromEngine && page.status !== 503 ? "yes" : "not yet";
}

/** Undefined: no answer. */
function ask({
  url,
  method = "GET",
  headers = {},
  deadlineMs = DEADLINE_MS,
  signal,
}: Question): Promise<Page | undefined> {
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
