// Pods of an engine that live in the test's own process, each on a loopback address of its own: cheap enough for hundreds of switches. They
// answer at once or after a while, count their queries, and end like the worst engine: every idle connection is closed at the same moment.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import type { EngineEndpoint } from "../../../src/wake-agent/discovery/engine-discovery.ts";

export interface BriefPod extends EngineEndpoint {
  readonly queries: () => number;
  /** Connections that are open now. */
  readonly connections: () => number;
  /** `Host` and path of the last query. */
  readonly last: () => {
    readonly host: string;
    readonly path: string;
    readonly headers: NodeJS.Dict<string | string[]>;
  };
  /** Closes the listener and idle connections at once; queries that run get their answers. */
  end(): Promise<void>;
}

/** A query whose body names milliseconds takes as long. */
export async function startBriefPod(pod: string, address: string): Promise<BriefPod> {
  let queries = 0;
  let last: ReturnType<BriefPod["last"]> = { host: "", path: "", headers: {} };
  const sockets = new Set<Socket>();
  const server: Server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    queries++;
    last = { host: request.headers.host ?? "", path: request.url ?? "", headers: request.headers };
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.once("end", () => {
      const answer = (): void => {
        response.setHeader("content-type", "application/json").end(JSON.stringify({ data: [[pod]], rows: 1 }));
      };
      const ms = Number(/wait (\d+)/.exec(body)?.[1] ?? 0);
      if (ms === 0) answer();
      else setTimeout(answer, ms);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen({ host: address, port: ENGINE_CONTRACT.ports.query, backlog: 1_024 });
  await once(server, "listening");
  return {
    pod,
    address,
    queries: () => queries,
    connections: () => sockets.size,
    last: () => last,
    async end() {
      // What had arrived before this moment is read first: that this process is late is not the pod's doing.
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}
