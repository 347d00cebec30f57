// Prepares the sandbox for a node: checks that this process is in one, sets up the node's address and routes, and shields the host's kernel
// settings from the kubelet. Starts no long-running programs.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { runProgram } from "../assets/run-program.ts";
import { NODE_ADDRESS, SERVICE_RANGE } from "./addresses.ts";

const DEADLINE_MS = 10_000;

/** Kernel settings of the network namespace, as files below /proc/sys/net. */
const SETTINGS: Readonly<Record<string, string>> = {
  // Pods reach each other and the node by routing.
  "ipv4/ip_forward": "1",
  // A pod that reaches itself through a Service is routed back to its source: this is intended.
  "ipv4/conf/all/send_redirects": "0",
  "ipv4/conf/default/send_redirects": "0",
};

/** Kernel settings below /proc/sys that a kubelet changes on the whole host if they differ. */
const HOST_SETTINGS: Readonly<Record<string, string>> = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
  "kernel/keys/root_maxkeys": "1000000",
  "kernel/keys/root_maxbytes": "25000000",
};
const SHADOWS = "/run/kernel-settings";

/** Throws, with the remedy, unless this process runs in a sandbox. */
export function assertSandbox(env: NodeJS.ProcessEnv): void {
  if (env["FIREBOLT_SANDBOX"] === "1") return;
  throw new Error(
    "a local cluster changes network, mounts and processes, and therefore runs only in a sandbox: " +
      "run this program with `dev/sandbox/sandbox.sh PROGRAM …`, as root on Linux",
  );
}

/** The node's address and the route to Services. Idempotent. */
export async function setUpNetwork(): Promise<void> {
  // On loopback: not every kernel has dummy devices.
  await ip("address", "replace", `${NODE_ADDRESS}/32`, "dev", "lo");
  // Without any route a connection to a ClusterIP fails before kube-proxy's rules see it.
  await ip("route", "replace", SERVICE_RANGE, "dev", "lo", "src", NODE_ADDRESS);
  for (const [name, value] of Object.entries(SETTINGS)) writeFileSync(`/proc/sys/net/${name}`, value);
}

/** Shows the kubelet the kernel settings that it requires, without changing the host's. Idempotent. */
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
