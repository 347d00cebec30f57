// Real ports on loopback; only the loss of a port is simulated.
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { AddressInUseError, findFreePorts, withFreePorts } from "./ports.ts";

test("ports are distinct, free, and outside the ephemeral range", async () => {
  const ports = await findFreePorts(5);
  expect(new Set(ports).size).toBe(5);
  for (const port of ports) {
    expect(port).toBeLessThan(32_768);
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    server.close();
  }
});

test("a port taken meanwhile is replaced by another", async () => {
  const seen: (number | undefined)[] = [];
  const result = await withFreePorts(1, async ([port]) => {
    seen.push(port);
    if (seen.length < 3) throw new AddressInUseError("taken");
    return "started";
  });
  expect(result).toBe("started");
  expect(new Set(seen).size).toBe(3);
});

test("other failures are not retried, and taken ports not forever", async () => {
  let tries = 0;
  await expect(withFreePorts(1, () => Promise.reject(new Error("no such flag")))).rejects.toThrow("no such flag");
  const unlucky = withFreePorts(1, () => {
    tries++;
    return Promise.reject(new AddressInUseError("taken"));
  });
  await expect(unlucky).rejects.toThrow("taken");
  expect(tries).toBe(4);
});
