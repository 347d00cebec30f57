// Addresses for simulated pods. They exist only in the private network namespace that the tests run in, because the API
// server's pods/proxy rejects loopback addresses and tests must not use the machine's own.
import { execFileSync } from "node:child_process";

/** Local to the namespace as a whole: a server on 0.0.0.0 serves every pod. */
export const POD_CIDR = "10.64.0.0/10";

/** The n-th address above those that kwok hands out (10.64.0.0/16). Fails outside the private network, with the way in. */
export function podAddress(n: number): string {
  requirePodNetwork();
  return `10.65.${(n >> 8) & 255}.${n & 255}`;
}

/** Throws unless pod addresses are local here. */
export function requirePodNetwork(): void {
  const routes = execFileSync("ip", ["route", "show", "table", "local"], { encoding: "utf8" });
  if (!routes.includes(POD_CIDR)) {
    throw new Error(
      `${POD_CIDR} is not local: run the tests by npm test or npm run test:integration, or below dev/sandbox/network.sh`,
    );
  }
}

/** From now on packets to this pod address are dropped silently, as if its node had vanished. */
export function vanish(address: string): void {
  requirePodNetwork();
  execFileSync("ip", ["route", "add", "blackhole", `${address}/32`, "table", "local"]);
}
