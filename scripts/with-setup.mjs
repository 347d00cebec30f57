// The entry point of `npm start`, `npm run stop`, `npm test` with its variants, `npm run bench` and `npm run assets`: each sets up a
// fresh clone automatically. It runs on whatever Node the machine has (18 or newer) and needs nothing installed; what
// comes after runs on the project's own.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BIN = join(ROOT, "node_modules", ".bin");
const NODE = join(BIN, "node");
const LOCK_FILE = join(ROOT, "package-lock.json");
/** npm writes it last: without it an installation was interrupted. */
const INSTALLED = join(ROOT, "node_modules", ".package-lock.json");

const VITEST = join("node_modules", "vitest", "vitest.mjs");
/** Tests and benchmarks run in a network namespace: nothing they send leaves the machine. */
const SANDBOX_NETWORK = ["sh", "dev/sandbox/network.sh"];
/** Cluster tests run a whole cluster in a sandbox. */
const SANDBOX = ["sh", "dev/sandbox/sandbox.sh"];
const CLUSTER = {
  with: ["kubelet", "kube-proxy", "coredns", "envoy", "helm"],
  system: ["containerd", "runc", "cni", "nft", "postgres"],
};

/** Firebolt's Python SDK, which tests run as a client. */
const SDK = "firebolt-sdk";

/** The log level is explicit: `npm run --silent` passes its own down, and errors would not be shown. */
const INSTALL = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
const PARENT = process.ppid;

const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ""}` };
const print = (line) => process.stderr.write(`${line}\n`);

/**
 * Per command: what it runs, the programs it needs beyond the usual ones, and the distribution's programs. `meanwhile` is run while missing
 * programs are fetched or compiled, because it needs none of them; `run` then gets `{ meanwhile: true }` and leaves it out.
 */
const COMMANDS = {
  // What it needs depends on its arguments and on the host: it checks that itself.
  start: { run: (args) => [NODE, "dev/playground/start.ts", ...args] },
  stop: { run: (args) => [NODE, "dev/playground/stop.ts", ...args] },
  test: {
    with: ["kwok", ...CLUSTER.with, SDK],
    system: ["ip", "unshare", "promtool", ...CLUSTER.system],
    meanwhile: (args) => (args.length === 0 ? [...SANDBOX_NETWORK, NODE, VITEST, "run", "--project=unit"] : undefined),
    // With arguments, only the given tests run, and Vitest gets the arguments.
    run: (args, done) =>
      args.length === 0
        ? [NODE, "scripts/test/suite.ts", ...(done.meanwhile ? ["--without=unit"] : [])]
        : [...SANDBOX_NETWORK, NODE, VITEST, "run", ...projects(args), ...args],
  },
  changed: {
    with: ["kwok", "envoy", "helm", SDK],
    system: ["ip", "unshare", "promtool"],
    run: (args) => [NODE, "scripts/test/changed.ts", ...args],
  },
  repeat: {
    with: ["kwok", ...CLUSTER.with, SDK],
    system: ["ip", "unshare", "promtool", ...CLUSTER.system],
    run: (args) => [NODE, "scripts/test/repeat.ts", ...args],
  },
  e2e: {
    with: [...CLUSTER.with, SDK],
    system: ["ip", "unshare", ...CLUSTER.system],
    run: (args) => clusterTests(args),
  },
  faults: { ...CLUSTER, system: ["ip", "unshare", ...CLUSTER.system], run: (args) => clusterTests(args, "faults") },
  bench: {
    with: ["kwok", "envoy", "helm"],
    system: ["ip", "unshare"],
    // These measure on a real node.
    clusterFor: ([name]) => name === "wake" || name === "start",
    run: (args) => [...SANDBOX_NETWORK, NODE, "bench/run.ts", ...args],
  },
  assets: { run: (args) => [NODE, "dev/assets/main.ts", ...args] },
};

function clusterTests(args, project = "cluster") {
  return [...SANDBOX, NODE, VITEST, "run", `--project=${project}`, ...args];
}

function projects(args) {
  if (args.some((arg) => arg.startsWith("--project"))) return [];
  return ["unit", "integration", "e2e"].map((name) => `--project=${name}`);
}

/** Runs a program in the project's folder. Returns its exit code, or 128 plus the signal's number, as shells do. */
function run(program, args, stdio) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env, stdio });
    const forward = (signal) => {
      // Ctrl-C in a terminal reaches the child too, and a second signal would kill it immediately.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    };
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    const watch = setInterval(() => {
      if (!isAbandoned()) return;
      clearInterval(watch); // Once only: a second signal may kill it immediately.
      child.kill("SIGTERM");
    }, 500);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearInterval(watch);
      for (const one of signals) process.off(one, forward);
      resolve(signal === null ? code : 128 + constants.signals[signal]);
    });
  });
}

/** npm does not stop its child when it is terminated: then this process has another parent. */
const isAbandoned = () => process.env.npm_lifecycle_event !== undefined && process.ppid !== PARENT;

function whyInstall() {
  if (!existsSync(INSTALLED)) return "node_modules is missing or incomplete";
  if (!existsSync(NODE)) return "the project's own Node is missing in node_modules";
  if (statSync(LOCK_FILE).mtimeMs > statSync(INSTALLED).mtimeMs) return "node_modules is older than package-lock.json";
  return undefined;
}

async function installPackages() {
  if (whyInstall() === undefined) return 0;
  return alone(async () => {
    // Another process may have done it meanwhile.
    const why = whyInstall();
    if (why === undefined) return 0;
    print(`npm ci: ${why} …`);
    const startedMs = performance.now();
    // The npm that runs this script, if one does: there may be none on the PATH. Its output is progress, not a result.
    const npm = process.env.npm_execpath;
    const [program, args] = npm?.endsWith("js")
      ? [process.env.npm_node_execpath ?? process.execPath, [npm]]
      : ["npm", []];
    const code = await run(program, [...args, ...INSTALL], ["ignore", 2, 2]);
    if (code !== 0) return code;
    if (!existsSync(NODE)) {
      print(
        "npm ci did not install the project's own Node: check that install scripts are enabled (npm config get ignore-scripts)",
      );
      return 1;
    }
    const now = new Date();
    utimesSync(INSTALLED, now, now);
    print(`npm ci: done after ${Math.round((performance.now() - startedMs) / 1000)} s`);
    return 0;
  });
}

/** Runs `action` while no other process installs packages for this folder. The lock is outside: npm ci empties node_modules. */
async function alone(action) {
  const digest = createHash("sha256").update(ROOT).digest("hex").slice(0, 16);
  const lock = join(tmpdir(), `firebolt-operator-setup-${digest}.lock`);
  for (let waits = 0; !tryLock(lock); waits++) {
    if (waits % 50 === 0) print(`waiting for another process that installs packages here (${lock}) …`);
    await sleep(100);
  }
  try {
    return await action();
  } finally {
    rmSync(lock, { force: true });
  }
}

function tryLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function isHeld(lock) {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    // Just made, and its owner has not written its number yet.
    if (pid === 0) return Date.now() - statSync(lock).mtimeMs < 5_000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** The names of the programs that are not on this machine yet. */
async function missingPrograms(extra) {
  const { code, lines } = await output(NODE, ["dev/assets/main.ts", ...extra, "--missing"]);
  return code === 0 ? lines : [];
}

function output(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part) => {
      text += part;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, lines: text.split("\n").filter((line) => line !== "") }));
  });
}

/** Provides what the command needs. Returns its exit code, and that of what was run meanwhile. */
async function setUp(command, args) {
  const cluster = command.clusterFor?.(args) === true ? CLUSTER : { with: [], system: [] };
  const names = [...new Set([...(command.with ?? []), ...cluster.with])];
  const extra = names.length > 0 ? ["--with", names.join(",")] : [];
  const provide = () => run(NODE, ["dev/assets/main.ts", ...extra], ["ignore", "ignore", "inherit"]);
  const install = () =>
    run(NODE, ["dev/assets/system/main.ts", ...command.system, ...cluster.system], ["ignore", "inherit", "inherit"]);
  const tests = command.meanwhile?.(args);
  if (command.with === undefined) return { code: 0 };
  if (tests === undefined || (await missingPrograms(extra)).length === 0) {
    const provided = await provide();
    return { code: provided !== 0 || command.system === undefined ? provided : await install() };
  }
  // Downloads wait for the network, and the distribution's programs are quick: they share the time.
  const [provided, rest] = await Promise.all([
    provide(),
    install().then(async (installed) => {
      if (installed !== 0) return { code: installed };
      print("tests that need no Kubernetes run meanwhile");
      return { code: 0, meanwhile: await run(tests[0], tests.slice(1), "inherit") };
    }),
  ]);
  return { ...rest, code: provided === 0 ? rest.code : provided };
}

async function main([name, ...args]) {
  const command = COMMANDS[name];
  if (command === undefined) {
    print(`usage: node scripts/with-setup.mjs ${Object.keys(COMMANDS).join("|")} [arguments]`);
    return 2;
  }
  const installed = await installPackages();
  if (installed !== 0) return installed;
  const ready = await setUp(command, args);
  if (ready.code !== 0) return ready.code;
  const [program, ...rest] = command.run(args, { meanwhile: ready.meanwhile !== undefined });
  const code = await run(program, rest, "inherit");
  if (!ready.meanwhile) return code;
  print("the tests that ran during the set-up FAILED: their output is above");
  return code === 0 ? ready.meanwhile : code;
}

process.exitCode = await main(process.argv.slice(2));
