// Bounds what strangers can take from a server that listens on the pod's address: connections, and time to read a response. The agent
// has a small memory, and every query that it holds ends with it.
import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface PeerLimits {
  /** Of one more the connection that has been without a request for longest is closed: silent peers never keep others out. */
  readonly mostConnections: number;
  /** A response that has not been read by then is cut off. */
  readonly responseMs: number;
}

export function limitPeers(server: Server, { mostConnections, responseMs }: PeerLimits): void {
  /** In the order of their last request, or of their beginning. */
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    if (sockets.size <= mostConnections) return;
    const [oldest] = sockets;
    if (oldest !== undefined) sockets.delete(oldest);
    oldest?.destroy();
  });
  server.prependListener("request", ({ socket, headers }, response) => {
    if (sockets.delete(socket)) sockets.add(socket);
    const cut = setTimeout(() => socket.destroy(), responseMs);
    response.once("close", () => clearTimeout(cut));
    // No request here has a body: what follows is read by nobody.
    if (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)
      response.setHeader("connection", "close");
  });
}
