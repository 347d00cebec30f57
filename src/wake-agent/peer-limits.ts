// Limits what clients can take from a server on the pod's address: connections, and time to read a response. The agent
// has little memory, and every held query fails when the agent does.
import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface PeerLimits {
  /** Beyond it the connection that has been idle for longest is closed: idle peers never keep others out. */
  readonly mostConnections: number;
  /** A response that is not read within this time is cut off. */
  readonly responseMs: number;
}

export function limitPeers(server: Server, { mostConnections, responseMs }: PeerLimits): void {
  /** In the order of their last request, or of their opening. */
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
    // No request here has a body: one that is sent stays unread.
    if (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)
      response.setHeader("connection", "close");
  });
}
