// Passes over a fake cluster in memory: repairs leave an event, and a pass that fails shows it in Ready and in one
// event, until it succeeds again.
import { KubeApiError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";
import { problemOf } from "../model/rejection.ts";

const notes = (run: InstanceRun, reason: string) =>
  run.events.filter((event) => event.reason === reason).map(({ type, note }) => `${type} ${note}`);

describe("repairs", () => {
  test("a deleted object and an edited one are restored with an event each", async () => {
    const run = new InstanceRun();
    await run.settle();
    expect(notes(run, "ChildRestored")).toEqual([]);
    run.world.drop("Service", "lakeside-gateway");
    const found = run.world.get("Deployment", "lakeside-metadata");
    if (found?.spec === undefined) throw new Error("no Deployment");
    run.world.put("Deployment", { ...found, spec: { ...found.spec, replicas: 3 } });
    await run.settle();
    expect(notes(run, "ChildRestored").sort()).toEqual([
      "Normal Deployment lakeside-metadata was changed by kubectl-edit and has been restored",
      "Normal Service lakeside-gateway was deleted and has been created again",
    ]);
  });

  test("a change of the spec is no repair, and neither is what it creates or removes", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.put("Secret", { metadata: { name: "login" }, data: { username: "dQ==", password: "cA==" } });
    run.world.edit("lakeside", (spec) => {
      spec.gateway.replicas = 3;
      const database = { host: "db", port: 5432, database: "meta", schema: "public" };
      spec.metadata.postgres = { ...database, credentialsSecretRef: { name: "login" } };
    });
    await run.settle();
    run.world.edit("lakeside", (spec) => {
      delete spec.metadata.postgres;
    });
    await run.settle();
    expect(notes(run, "ChildRestored")).toEqual([]);
  });
});

describe("a pass that fails", () => {
  test.each(["", "x"])("is reported in whole characters, wherever a long message is cut (%s)", (start) => {
    expect(problemOf(new Error(`${start}${"\u{1F525}".repeat(600)}`)).isWellFormed()).toBe(true);
  });

  test("for the same cause from another port each time is reported and stored once", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.events.length = 0;
    let port = 40_000;
    run.world.intercept = (request) => {
      const message = `failed calling webhook "v": read tcp 10.0.0.1:${port++}->10.0.0.2:443: connection reset by peer`;
      if (request.startsWith("create")) throw new KubeApiError("POST", 500, { reason: "InternalError", message });
    };
    run.world.drop("Service", "lakeside-gateway");
    run.forgetRequests();
    for (let pass = 0; pass < 10; pass++) await run.tryPass();
    expect(run.world.requests.filter((request) => request.startsWith("status"))).toHaveLength(1);
    expect(notes(run, "ReconcileFailed")).toHaveLength(1);
    expect(run.message("Ready")).toContain("read tcp <ip>:443: connection reset by peer");
  });

  const forbidden = () =>
    new KubeApiError("GET /api/v1/secrets", 403, { reason: "Forbidden", message: "no get on secrets" });

  test("before anything is observed: Ready and one event have the error's message, and a success clears it", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.restart();
    run.world.intercept = (request) => {
      if (request.startsWith("get Secret")) throw forbidden();
    };
    for (let pass = 0; pass < 3; pass++) expect(await run.tryPass()).toBeInstanceOf(Error);
    expect(run.condition("Ready")).toBe("False/ReconcileFailed");
    expect(run.message("Ready")).toMatch(/^the last reconcile failed: .*no get on secrets/);
    expect(notes(run, "ReconcileFailed")).toEqual([expect.stringMatching(/^Warning .*no get on secrets/)]);
    run.world.intercept = () => undefined;
    await run.settle();
    expect(run.status.phase).toBe("Ready");
  });

  test("by a rejected write: the event comes once, beside the component's condition", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.drop("Service", "lakeside-gateway");
    run.world.intercept = (request) => {
      if (request === "create Service lakeside-gateway") throw forbidden();
    };
    for (let pass = 0; pass < 3; pass++) await run.tryPass();
    expect(run.message("Ready")).toMatch(/^GatewayReady: Service lakeside-gateway: .*no get on secrets/);
    expect(notes(run, "ReconcileFailed")).toEqual([expect.stringMatching(/Service lakeside-gateway: .*no get/)]);
  });

  test("by a conflict or a short outage: nothing is reported before the third time", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.restart();
    run.world.intercept = (request) => {
      if (request.startsWith("get Secret")) throw new KubeApiError("GET", 503, { message: "starting" });
    };
    for (let pass = 0; pass < 2; pass++) await run.tryPass();
    expect(run.condition("Ready")).toBe("True/AllComponentsReady");
    expect(notes(run, "ReconcileFailed")).toEqual([]);
    await run.tryPass();
    expect(run.condition("Ready")).toBe("False/ReconcileFailed");
    expect(notes(run, "ReconcileFailed")).toHaveLength(1);
  });

  test("to list pods loses only the cause", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.intercept = (request) => {
      if (request === "list Pod") throw forbidden();
    };
    run.world.report("lakeside-gateway", 1);
    await run.pass();
    expect(run.status.phase).toBe("Ready");
  });
});
