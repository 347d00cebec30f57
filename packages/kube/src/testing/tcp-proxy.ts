// A loopback TCP proxy that misbehaves on request: slow, cut, black-holed, or refusing. It forwards bytes and
// interprets none.
import { once } from "node:events";
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The server behind the proxy. */
export interface TcpProxyTarget {
  readonly host: string;
  readonly port: number;
}

/** Throttled bytes are forwarded in this many portions per second. */
const PORTIONS_PER_SECOND = 20;

interface Gate {
  stalled: PromiseWithResolvers<void> | undefined;
}

interface Flow {
  readonly gate: Gate;
  readonly limit: () => number;
}

/** A loopback proxy that misbehaves on request: slow, cut, black-holed, or refusing. */
export class TcpProxy implements AsyncDisposable {
  readonly #target: TcpProxyTarget;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** What each open connection waits for before it forwards anything. */
  readonly #gates = new Set<Gate>();
  #bytesPerSecond = Number.POSITIVE_INFINITY;
  #flowing = Promise.withResolvers<void>();
  #refusing = false;
  #accepted = 0;

  constructor(target: TcpProxyTarget) {
    this.#target = target;
    this.#flowing.resolve();
    this.#server = createServer((client) => this.#accept(client));
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy is not listening");
    return address.port;
  }

  /** Connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Open connections from clients. */
  get open(): number {
    return this.#sockets.size / 2;
  }

  /** Limits the rate from the target to each client. */
  throttle(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Resets every open connection. New ones work. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Resets every connection and each new one, until turned off. */
  refuse(refusing: boolean): void {
    this.#refusing = refusing;
    if (refusing) this.cut();
  }

  /** Drops all data without closing anything, as a lost route does. */
  blackhole(deaf: boolean): void {
    if (deaf) this.#flowing = Promise.withResolvers<void>();
    else this.#flowing.resolve();
  }

  /** Open connections drop all data from here on, permanently; new ones work. */
  stall(): void {
    for (const gate of this.#gates) gate.stalled ??= Promise.withResolvers<void>();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.blackhole(false);
    for (const gate of this.#gates) gate.stalled?.resolve();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }

  #accept(client: Socket): void {
    if (this.#refusing) {
      client.resetAndDestroy();
      return;
    }
    this.#accepted += 1;
    const server = dial(this.#target);
    const gate: Gate = { stalled: undefined };
    this.#gates.add(gate);
    client.once("close", () => {
      this.#gates.delete(gate);
      gate.stalled?.resolve();
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      // A broken end is the purpose of this proxy; "close" follows and closes the other end.
      socket.on("error", () => other.destroy());
    }
    void this.#pump(client, server, { gate, limit: () => Number.POSITIVE_INFINITY });
    void this.#pump(server, client, { gate, limit: () => this.#bytesPerSecond });
  }

  async #pump(from: Socket, to: Socket, flow: Flow): Promise<void> {
    try {
      for await (const chunk of from) await this.#forward(chunk, to, flow);
      to.end();
    } catch (error) {
      if (!from.destroyed) from.destroy(error instanceof Error ? error : undefined);
    }
  }

  async #forward(chunk: Buffer, to: Socket, { gate, limit }: Flow): Promise<void> {
    const bytesPerSecond = limit();
    const portion = Math.max(1, Math.min(chunk.length, Math.floor(bytesPerSecond / PORTIONS_PER_SECOND)));
    for (let start = 0; start < chunk.length; start += portion) {
      await this.#flowing.promise;
      await gate.stalled?.promise;
      if (to.destroyed) return;
      if (!to.write(chunk.subarray(start, start + portion))) await Promise.race([once(to, "drain"), once(to, "close")]);
      if (Number.isFinite(bytesPerSecond)) await sleep(1_000 / PORTIONS_PER_SECOND);
    }
  }
}

/** Starts a proxy in front of a server. */
export async function startTcpProxy(url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  const proxy = new TcpProxy({ host: hostname, port: Number(port) });
  await proxy.start();
  return proxy;
}
