// Finds free loopback ports. They are only probed, not reserved: `withFreePorts` starts a program again on another port
// if its port was taken meanwhile.
import { createServer } from "node:net";

/** A program could not listen because its port was already in use. */
export class AddressInUseError extends Error {
  override readonly name = "AddressInUseError";
}

// Below the ephemeral ports of outgoing connections (from 32768 on Linux, 49152 elsewhere). A server that is down for a
// moment must find its port free again, and a client that keeps dialling it must not end up connected to itself.
const FIRST_PORT = 20_000;
const PORT_COUNT = 12_000;
const ATTEMPTS = 4;

/** Runs `start` with free ports, and again with other ports if one was taken meanwhile. */
export async function withFreePorts<T>(count: number, start: (ports: readonly number[]) => Promise<T>): Promise<T> {
  const tried = new Set<number>();
  for (let attempt = 1; ; attempt++) {
    const ports = await findFreePorts(count, tried);
    try {
      return await start(ports);
    } catch (error) {
      if (!(error instanceof AddressInUseError) || attempt === ATTEMPTS) throw error;
      for (const port of ports) tried.add(port);
    }
  }
}

/** Distinct ports on 127.0.0.1 that are currently free, none of them in `except`. */
export async function findFreePorts(
  count: number,
  except: ReadonlySet<number> = new Set(),
): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let tries = 0; found.size < count; tries++) {
    if (tries > PORT_COUNT)
      throw new Error(`no ${count} free ports between ${FIRST_PORT} and ${FIRST_PORT + PORT_COUNT}`);
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    if (!found.has(port) && !except.has(port) && (await isFree(port))) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
