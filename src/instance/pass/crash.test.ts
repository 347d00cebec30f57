// A process may exit between any two requests, and a response may get lost: neither may lose the account, the password
// or an object.
import { KubeConnectionError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { Crash } from "../../../test/instance/support/fake-instance-store.ts";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

const SECRET = "lakeside-metadata-postgres-creds";

async function undisturbed() {
  const run = new InstanceRun();
  await run.settle();
  return { requests: run.world.requests.length, inventory: run.world.inventory() };
}

/** Passes until the run has made this many requests; the next one never happens. */
async function runUntil(run: InstanceRun, requests: number): Promise<void> {
  run.world.intercept = () => {
    if (run.world.requests.length > requests) throw new Crash("the process has ended");
  };
  for (let pass = 0; pass < 40 && run.world.requests.length <= requests; pass++) {
    run.world.report("lakeside-metadata", 1);
    run.world.report("lakeside-gateway", 2);
    await run.tryPass().catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
  }
  run.world.intercept = () => undefined;
}

const { requests, inventory } = await undisturbed();
const boundaries = Array.from({ length: requests }, (_, index) => index);

describe(`crash-anywhere-converges, id-and-password-never-change: a crash at each of the ${requests} requests of a first provisioning`, () => {
  test.each(boundaries)("before request %i", async (boundary) => {
    const run = new InstanceRun();
    await runUntil(run, boundary);
    const password = run.world.get("Secret", SECRET)?.data?.["password"];
    const { id } = run.instance.spec;
    run.restart();
    await run.settle();
    expect(run.status.phase).toBe("Ready");
    expect(run.world.inventory()).toEqual(inventory);
    if (password !== undefined) expect(run.world.get("Secret", SECRET)?.data?.["password"]).toBe(password);
    if (id !== undefined) expect(run.instance.spec.id).toBe(id);
  });
});

describe("a lost response", () => {
  test.each(boundaries)("after write %i", async (boundary) => {
    const run = new InstanceRun();
    let writes = 0;
    run.world.loseResponse = () => {
      if (writes++ === boundary) throw new KubeConnectionError("socket hang up");
    };
    const errors: unknown[] = [];
    for (let pass = 0; pass < 20; pass++) {
      run.world.report("lakeside-metadata", 1);
      run.world.report("lakeside-gateway", 2);
      const answer = await run.tryPass();
      if (answer instanceof Error) errors.push(answer);
    }
    expect(errors.length).toBe(writes > boundary ? 1 : 0);
    expect(run.status.phase).toBe("Ready");
    expect(run.world.inventory()).toEqual(inventory);
  });
});

test("a process that shuts down does not write the status of an aborted pass", async () => {
  const run = new InstanceRun({ id: "x" });
  for (let pass = 0; pass < 2; pass++) await run.pass();
  run.world.intercept = (request) => {
    if (!request.startsWith("create")) return;
    run.world.stop();
    throw new Crash("cut");
  };
  run.forgetRequests();
  await expect(run.pass()).rejects.toThrow("cut");
  expect(run.world.requests.at(-1)).toMatch(/^create/);
});
