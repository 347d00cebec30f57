// The private machine as seen from inside: makes sure of being there, gives its network the node's address and routes, and keeps the
// kubelet's hands off the host's kernel. It starts no programs that stay.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { runProgram } from "../assets/run-program.ts";
import { NODE_ADDRESS, SERVICE_RANGE } from "./addresses.ts";

const DEADLINE_MS = 10_000;

/** Kernel settings of the network namespace, as files below /proc/sys/net. */
const SETTINGS: Readonly<Record<string, string>> = {
  // Pods reach each other and the node by routing.
  "ipv4/ip_forward": "1",
  // A pod that reaches itself through a Service is routed back where it came from: that is meant.
  "ipv4/conf/all/send_redirects": "0",
  "ipv4/conf/default/send_redirects": "0",
};

/** What a kubelet sets on the whole host, below /proc/sys, unless it finds it so. */
const HOST_SETTINGS: Readonly<Record<string, string>> = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
  "kernel/keys/root_maxkeys": "1000000",
  "kernel/keys/root_maxbytes": "25000000",
};
const SHADOWS = "/run/kernel-settings";

/** Fails, with the way out, unless this process runs on a private machine. */
export function assertPrivateMachine(env: NodeJS.ProcessEnv): void {
  if (env["FIREBOLT_PRIVATE_MACHINE"] === "1") return;
  throw new Error(
    "a local cluster sets up network, mounts and processes, and does so only on a machine of its own: " +
      "run this program with `scripts/private-machine.sh PROGRAM …`, as root on Linux",
  );
}

/** The node's address and the way to Services; doing it twice does no harm. */
export async function setUpNetwork(): Promise<void> {
  // On loopback: not every kernel has a device for nothing but an address.
  await ip("address", "replace", `${NODE_ADDRESS}/32`, "dev", "lo");
  // Without any route a connection to a ClusterIP fails before kube-proxy's rules see it.
  await ip("route", "replace", SERVICE_RANGE, "dev", "lo", "src", NODE_ADDRESS);
  for (const [name, value] of Object.entries(SETTINGS)) writeFileSync(`/proc/sys/net/${name}`, value);
}

/** Shows the kubelet the kernel settings it insists on without changing the host's; doing it twice does no harm. */
export async function shadowHostSettings(): Promise<void> {
  mkdirSync(SHADOWS, { recursive: true });
  for (const [name, value] of Object.entries(HOST_SETTINGS)) {
    const file = join("/proc/sys", name);
    if (readFileSync(file, "utf8").trim() === value) continue;
    const shadow = join(SHADOWS, basename(name));
    writeFileSync(shadow, `${value}\n`);
    await runProgram({ program: "mount", args: ["--bind", shadow, file], timeoutMs: DEADLINE_MS });
  }
}

async function ip(...args: readonly string[]): Promise<void> {
  await runProgram({ program: "ip", args, timeoutMs: DEADLINE_MS });
}
