// Reads a pod's metrics endpoint straight from its IP (`metricScrapeMode: PodIP`): plain HTTP, no redirects, no kept
// connection, and every step within its limit. Interprets nothing of what it reads.
import { request } from "node:http";

/** What a pod's metrics endpoint returned. */
export interface ScrapeResponse {
  readonly status: number;
  readonly body: string;
}

export interface ScrapeLimits {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly bytes: number;
}

export const SCRAPE_LIMITS: ScrapeLimits = { connectMs: 3_000, firstByteMs: 3_000, totalMs: 10_000, bytes: 1_048_576 };

export interface PodAddress {
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

export function scrapePod(address: PodAddress, signal: AbortSignal, limits = SCRAPE_LIMITS): Promise<ScrapeResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ScrapeResponse>();
  const total = AbortSignal.any([signal, AbortSignal.timeout(limits.totalMs)]);
  const call = request({ ...address, method: "GET", agent: false, signal: total });
  const tooLate = (what: string, ms: number) =>
    setTimeout(() => call.destroy(new Error(`no ${what} within ${ms / 1000} s`)), ms);
  let timer = tooLate("connection", limits.connectMs);
  call.once("socket", (socket) =>
    socket.once("connect", () => {
      clearTimeout(timer);
      timer = tooLate("response", limits.firstByteMs);
    }),
  );
  call.once("response", (response) => {
    clearTimeout(timer);
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limits.bytes) {
        chunks.push(chunk);
        return;
      }
      // Rejected before the call is aborted: its end may already be queued.
      reject(new Error(`metrics are longer than ${limits.bytes} bytes`));
      call.destroy();
    });
    response.once("end", () =>
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }),
    );
    response.once("error", reject);
  });
  call.once("error", reject);
  call.once("close", () => {
    clearTimeout(timer);
    reject(new Error("the connection was closed before the response was complete"));
  });
  call.end();
  return promise;
}
