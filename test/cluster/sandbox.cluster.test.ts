// The private machine and how a cluster ends on it: signals and exit codes pass through, nothing of the host is changed, and a cluster
// that fails half-way or is killed leaves nothing but a folder that the next one removes. Machines here are inside the suite's own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeOrphans } from "../../dev/cluster/orphans.ts";
import { buildImages } from "../../dev/images/catalog.ts";
import { eventually } from "../harness/control-plane/requests.ts";

const MACHINE = join(import.meta.dirname, "../../dev/sandbox/sandbox.sh");
const SECOND_CLUSTER = join(import.meta.dirname, "support/second-cluster.ts");
const SLOW = { timeoutMs: 120_000 };

let folder: string;
let started: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "machine-test-"));
  started = [];
});
afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function start(...program: readonly string[]) {
  const { FIREBOLT_SANDBOX: _, ...env } = process.env;
  const child = spawn(MACHINE, program, { env, stdio: ["pipe", "pipe", "inherit"] });
  started.push(child);
  return child;
}

/** Processes with this text on their command line, those of machines inside this one included; not the tests themselves. */
function processesNaming(part: string): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && commandOf(pid).includes(part));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // It has ended since.
  }
}

/** The control groups of a cluster, in whichever trees there are. */
function cgroupsOf(cluster: string): readonly string[] {
  const trees = ["/sys/fs/cgroup", ...readdirSync("/sys/fs/cgroup").map((name) => join("/sys/fs/cgroup", name))];
  return trees.map((tree) => join(tree, basename(cluster))).filter((group) => existsSync(group));
}

/** What it printed and how it ended. */
async function run(script: string, input = ""): Promise<{ readonly out: string; readonly code: unknown }> {
  const child = start("sh", "-c", script);
  const exit = once(child, "exit");
  child.stdin.end(input);
  const out = await text(child.stdout);
  return { out: out.trim(), code: (await exit)[0] };
}

test("a program in a sandbox: input and exit code pass through; processes, network and folders are isolated", async () => {
  const host = process.pid;
  const script = `cat; echo; readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/mnt
    ls /proc | grep -c '^[0-9]*$'; ip -br address | wc -l; ls /run; touch /var/lib/of-the-machine; exit 7`;
  const { out, code } = await run(script, "hello");
  expect(code).toBe(7);
  const [input, net, pid, mnt, processes, devices, runFolder] = out.split("\n");
  const inHost = (name: string): string => readlinkSync(`/proc/${host}/ns/${name}`);
  expect(input).toBe("hello");
  for (const [name, there] of Object.entries({ net, pid, mnt })) expect(there).not.toBe(inHost(name));
  expect(Number(processes)).toBeLessThan(8);
  expect([devices, runFolder]).toEqual(["1", "machine"]);
  expect(existsSync("/var/lib/of-the-machine")).toBe(false);
});

test("kernel settings can be changed for the network of the machine, and not for the host", async () => {
  const before = readFileSync("/proc/sys/net/ipv4/ip_forward", "utf8");
  const script = `echo 0 > /proc/sys/net/ipv4/ip_forward && echo 1 > /proc/sys/net/ipv4/ip_forward && cat /proc/sys/net/ipv4/ip_forward
    echo 1 2>&1 > /proc/sys/vm/overcommit_memory || echo refused`;
  expect((await run(script)).out.split("\n").filter((line) => !line.includes("Read-only"))).toEqual(["1", "refused"]);
  expect(readFileSync("/proc/sys/net/ipv4/ip_forward", "utf8")).toBe(before);
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s is handed on to the program, whose end is awaited",
  async (signal) => {
    const name = signal.replace("SIG", "");
    const child = start("sh", "-c", `trap 'echo bye; exit 9' ${name}; echo ready; while :; do sleep 0.1; done`);
    const exit = once(child, "exit");
    const lines = child.stdout[Symbol.asyncIterator]();
    expect(String((await lines.next()).value)).toBe("ready\n");
    child.kill(signal);
    expect(String((await lines.next()).value)).toBe("bye\n");
    expect(await exit).toEqual([9, null]);
  },
);

test("when the script is killed, everything inside dies with it", async () => {
  const mark = join(folder, "mark");
  const child = start("sh", "-c", `sh -c 'while :; do sleep 0.05; date >> ${mark}; done' & echo ready; wait`);
  await once(child.stdout, "data");
  await eventually(() => existsSync(mark));
  child.kill("SIGKILL");
  await once(child, "exit");
  await eventually(() => processesNaming(mark).length === 0);
});

test("a cluster whose machine is killed leaves its folder alone, and the next start removes it", async () => {
  const [pause] = await buildImages(["pause"]);
  const child = start(process.execPath, SECOND_CLUSTER, folder, pause?.file ?? "");
  const cluster = String((await once(child.stdout, "data"))[0]).trim();
  expect(cgroupsOf(cluster).length).toBeGreaterThan(0);
  expect(processesNaming(cluster).length).toBeGreaterThan(5);
  const lines: string[] = [];
  await removeOrphans(folder, (line) => lines.push(line));
  expect([lines, existsSync(cluster)], "a living cluster is spared").toEqual([[], true]);

  child.kill("SIGKILL");
  await once(child, "exit");
  await eventually(() => processesNaming(cluster).length === 0);
  // Of a killed owner the socket is the last to go: until then it counts as living.
  await eventually(async () => {
    await removeOrphans(folder, (line) => lines.push(line));
    return lines.length > 0;
  });
  expect(lines).toEqual([`removed ${cluster} of a cluster that was killed`]);
  expect([readdirSync(folder), cgroupsOf(cluster)]).toEqual([[], []]);
});

test("a cluster whose owner is killed on a machine that lives on is taken apart at once", async () => {
  const [pause] = await buildImages(["pause"]);
  const wrapper = `${process.execPath} ${SECOND_CLUSTER} ${folder} ${pause?.file} & echo owner $!; wait $!; cat`;
  const child = start("sh", "-c", wrapper);
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
  });
  const cluster = await eventually(() => /^\/.+$/m.exec(out)?.[0] ?? false, SLOW);
  const owner = processesNaming(SECOND_CLUSTER).find((pid) => commandOf(pid).startsWith(process.execPath));
  process.kill(owner ?? -1, "SIGKILL");
  // Whoever takes it apart removes the folder, and then ends too.
  await eventually(
    () => expect([existsSync(cluster), processesNaming(cluster), cgroupsOf(cluster)]).toEqual([false, [], []]),
    SLOW,
  );
});

test("a start that fails half-way leaves nothing", async () => {
  const archive = join(folder, "not-an-image.tar");
  writeFileSync(archive, "nonsense");
  const child = start("sh", "-c", `${process.execPath} ${SECOND_CLUSTER} ${folder} ${archive} 2>&1; ls ${folder}`);
  const out = await text(child.stdout);
  expect(out).toContain("ctr");
  expect(readdirSync(folder)).toEqual([basename(archive)]);
  expect(processesNaming(`${folder}/firebolt-cluster-`)).toEqual([]);
});
