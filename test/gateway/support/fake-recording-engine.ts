// A fake engine that records what it receives, byte for byte as the gateway sent it, and responds to queries with 200:
// immediately, when the body has arrived, or never; then it does not read the body either.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";

const QUERY_PORT = ENGINE_CONTRACT.ports.query;
const READINESS = ENGINE_CONTRACT.endpoints.ready;

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface RecordingEngine extends AsyncDisposable {
  readonly address: string;
  /** Every query so far; health checks are not among them. */
  readonly requests: readonly RecordedRequest[];
}

export interface RecordingOptions {
  readonly answers?: "at once" | "when the body has come" | "never";
}

export async function startRecordingEngine(
  address: string,
  { answers = "at once" }: RecordingOptions = {},
): Promise<RecordingEngine> {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const { url: path = "", headers } = request;
    const answer = (): unknown => response.end("recorded");
    if (path === READINESS) return answer();
    requests.push({ path, headers });
    if (answers === "never") return undefined;
    request.resume();
    return answers === "at once" ? answer() : request.once("end", answer);
  });
  server.listen(QUERY_PORT, address);
  await once(server, "listening");
  return {
    address,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
