// An address for a simulated pod. It exists only in the private network namespace of the tests, because the API
// server's pods/proxy rejects loopback addresses and tests must not use the machine's own.
import { execFileSync } from "node:child_process";

const POD_CIDR = "10.64.0.0/10";

/** The n-th address. Fails outside the private network, with instructions. */
export function podAddress(n: number): string {
  const routes = execFileSync("ip", ["route", "show", "table", "local"], { encoding: "utf8" });
  if (!routes.includes(POD_CIDR))
    throw new Error(`${POD_CIDR} is not local: run the tests by npm test, or below dev/sandbox/network.sh`);
  return `10.65.${(n >> 8) & 255}.${n & 255}`;
}
