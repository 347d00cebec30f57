// SIGKILL between any two writes: every life of the operator makes one write and is killed before its next. However often that
// happens, the instance is provisioned and removed as if nothing had.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InstanceCluster, startInstanceCluster, type TestNamespace } from "./support/instance-cluster.ts";

const PROCESS = join(import.meta.dirname, "../harness/operator/instance-operator-program.ts");
const SECRET = "lakeside-metadata-postgres-creds";
const MOST_LIVES = 40;

let cluster: InstanceCluster;
beforeAll(async () => {
  cluster = await startInstanceCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** One life: until it is killed, or until `done` holds. Answers whether it was killed. */
async function live(writes: number, done: () => Promise<boolean>): Promise<boolean> {
  const child = spawn(process.execPath, [PROCESS, cluster.adminKubeconfig, String(writes)], { stdio: "inherit" });
  let ended = false;
  const exit = once(child, "exit").then(([, signal]) => {
    ended = true;
    return signal === "SIGKILL";
  });
  const deadline = performance.now() + 120_000;
  while (!ended && performance.now() < deadline) {
    await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, 100))]);
    if (!ended && (await done())) break;
  }
  if (ended) return exit;
  child.kill("SIGTERM");
  await exit;
  if (performance.now() >= deadline) throw new Error("a life made no write and did not finish either");
  return false;
}

/** Processes of one write each until the work is done; returns how many were killed. */
async function livesUntil(done: () => Promise<boolean>, afterEach: () => Promise<void>): Promise<number> {
  for (let killed = 0; killed < MOST_LIVES; killed++) {
    if (!(await live(1, done))) return killed;
    await afterEach();
  }
  throw new Error(`not done after ${MOST_LIVES} lives`);
}

const phaseOf = async (ns: TestNamespace) => (await ns.instance()).status?.phase;

test("one write per life: provisioned, with one id and one password, and removed", { timeout: 600_000 }, async () => {
  const ns = await cluster.namespace("restricted");
  await ns.createInstance();
  const seen = { ids: new Set<unknown>(), passwords: new Set<unknown>() };
  const look = async () => {
    const { id } = (await ns.instance()).spec;
    if (id !== undefined) seen.ids.add(id);
    const password = valueAt(await ns.find("Secret", SECRET), ["data", "password"]);
    if (password !== undefined) seen.passwords.add(password);
  };
  const lives = await livesUntil(async () => (await phaseOf(ns)) === "Ready", look);
  await look();
  expect(seen.ids.size).toBe(1);
  expect(seen.passwords.size).toBe(1);
  // Finalizer, id, phase and thirteen objects: a life for each.
  expect(lives).toBeGreaterThanOrEqual(16);
  expect(await ns.names("Deployment")).toEqual(["lakeside-gateway", "lakeside-metadata"]);
  expect(await ns.names("PodDisruptionBudget")).toEqual(["lakeside-gateway"]);

  await ns.remove("FireboltInstance", "lakeside");
  const gone = async () => (await ns.names("FireboltInstance")).length === 0;
  const deaths = await livesUntil(gone, async () => undefined);
  expect(deaths).toBeGreaterThanOrEqual(10);
  for (const kind of ["Deployment", "StatefulSet", "Service", "Secret", "Role", "RoleBinding"] as const)
    expect([kind, await ns.names(kind)]).toEqual([kind, []]);
  process.stderr.write(`killed ${lives} times while provisioning, ${deaths} times while deleting\n`);
});
