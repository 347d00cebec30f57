// Passes over a fake cluster in memory: changes by other clients are reverted, their additions are kept, and disabled
// objects are deleted.
import { describe, expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

describe("instance-objects-edited: drift", () => {
  test.each([
    [
      "an edited ConfigMap",
      (run: InstanceRun) =>
        run.world.put("ConfigMap", {
          ...run.world.get("ConfigMap", "lakeside-gateway-config"),
          data: { "envoy.yaml": "x" },
        }),
      "update ConfigMap lakeside-gateway-config",
    ],
    [
      "a deleted Service",
      (run: InstanceRun) => run.world.drop("Service", "lakeside-gateway"),
      "create Service lakeside-gateway",
    ],
    [
      "a scaled Deployment",
      (run: InstanceRun) => {
        const found = structuredClone(run.world.get("Deployment", "lakeside-gateway"));
        if (found?.spec !== undefined) found.spec.replicas = 7;
        run.world.put("Deployment", found ?? {});
      },
      "update Deployment lakeside-gateway",
    ],
    [
      "a Role whose rule names one engine",
      (run: InstanceRun) => {
        const found = structuredClone(run.world.get("Role", "lakeside-gateway"));
        for (const rule of found?.rules ?? []) rule.resourceNames = ["e1"];
        run.world.put("Role", found ?? {});
      },
      "update Role lakeside-gateway",
    ],
    [
      "a RoleBinding with a further subject",
      (run: InstanceRun) => {
        const found = run.world.get("RoleBinding", "lakeside-gateway");
        if (found === undefined) throw new Error("no binding");
        const other = { kind: "ServiceAccount", name: "other", namespace: "ns" };
        run.world.put("RoleBinding", { ...found, subjects: [...(found.subjects ?? []), other] });
      },
      "update RoleBinding lakeside-gateway",
    ],
    [
      "a disruption budget whose selector has expressions",
      (run: InstanceRun) => {
        const found = structuredClone(run.world.get("PodDisruptionBudget", "lakeside-gateway"));
        const { selector } = found?.spec ?? {};
        if (selector !== undefined) selector.matchExpressions = [{ key: "team", operator: "Exists" }];
        run.world.put("PodDisruptionBudget", found ?? {});
      },
      "update PodDisruptionBudget lakeside-gateway",
    ],
    [
      "a Service that selects by a further label",
      (run: InstanceRun) => {
        const found = structuredClone(run.world.get("Service", "lakeside-gateway"));
        if (found?.spec?.selector !== undefined) found.spec.selector["team"] = "a";
        run.world.put("Service", found ?? {});
      },
      "update Service lakeside-gateway",
    ],
    [
      "a deleted Role",
      (run: InstanceRun) => run.world.drop("Role", "lakeside-gateway"),
      "create Role lakeside-gateway",
    ],
  ])("%s is restored, and nothing else is written", async (_, change, write) => {
    const run = new InstanceRun();
    await run.settle();
    const before = JSON.stringify(run.world.get("ConfigMap", "lakeside-gateway-config")?.data);
    change(run);
    run.forgetRequests();
    await run.pass();
    expect(run.world.requests.filter((request) => !/^(get|list Pod)/.test(request))).toEqual([write]);
    expect(JSON.stringify(run.world.get("ConfigMap", "lakeside-gateway-config")?.data)).toBe(before);
  });

  test("an object that lost its label is recognised and labelled again", async () => {
    const run = new InstanceRun();
    await run.settle();
    const found = run.world.get("Service", "lakeside-gateway");
    run.world.put("Service", { ...found, metadata: { ...found?.metadata, labels: {} } });
    run.forgetRequests();
    await run.pass();
    expect(run.world.requests).toEqual([
      "create Service lakeside-gateway",
      "get Service lakeside-gateway",
      "update Service lakeside-gateway",
    ]);
  });

  test.each([
    [
      "a port of a Service",
      (run: InstanceRun) => {
        const found = structuredClone(run.world.get("Service", "lakeside-gateway"));
        found?.spec?.ports?.push({ name: "theirs", port: 81, protocol: "TCP" });
        run.world.put("Service", found ?? {});
      },
    ],
    [
      "a container of a Deployment",
      (run: InstanceRun) => {
        const found = structuredClone(run.world.get("Deployment", "lakeside-gateway"));
        found?.spec?.template.spec?.containers.unshift({ name: "theirs", image: "i" });
        run.world.put("Deployment", found ?? {});
      },
    ],
  ])("%s that others added is kept", async (_, change) => {
    const run = new InstanceRun();
    await run.settle();
    change(run);
    run.forgetRequests();
    await run.pass();
    expect(run.world.requests.filter((request) => !/^(get|list Pod)/.test(request))).toEqual([]);
  });

  test("an object of another owner is never written", async () => {
    const run = new InstanceRun({ id: "x" });
    run.world.put("Service", { metadata: { name: "lakeside-metadata" }, spec: { ports: [] } });
    for (let pass = 0; pass < 2; pass++) await run.tryPass();
    expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
    expect(run.message("MetadataReady")).toBe(
      "Service lakeside-metadata: exists and has no owner, so the operator neither changes nor deletes it: " +
        "delete or rename it, or give the instance another name",
    );
    expect(run.world.get("Service", "lakeside-metadata")?.spec).toEqual({ ports: [] });
  });

  test("changes of an admission policy are not reverted again and again", async () => {
    const run = new InstanceRun();
    run.world.mutate = (object) => {
      if (object.kind !== "Deployment") return object;
      for (const container of object.spec?.template.spec?.containers ?? [])
        container.image = `mirror/${container.image}`;
      return object;
    };
    await run.settle();
    run.forgetRequests();
    for (let pass = 0; pass < 5; pass++) await run.pass();
    expect(run.world.requests).toEqual([]);
    run.world.edit("lakeside", (spec) => {
      spec.gateway.replicas = 3;
    });
    await run.settle();
    expect(run.world.get("Deployment", "lakeside-gateway")?.spec?.replicas).toBe(3);
  });

  test("an addition by an admission policy where nobody else may add is written once, also after a restart", async () => {
    const run = new InstanceRun();
    run.world.mutate = (object) => {
      if (object.kind === "Role") for (const rule of object.rules ?? []) rule.resourceNames = ["e1"];
      if (object.kind === "PodDisruptionBudget" && object.spec?.selector !== undefined)
        object.spec.selector.matchExpressions = [{ key: "team", operator: "Exists" }];
      return object;
    };
    await run.settle();
    run.forgetRequests();
    for (let pass = 0; pass < 5; pass++) await run.pass();
    expect(run.world.requests).toEqual([]);
    run.restart();
    for (let pass = 0; pass < 5; pass++) await run.pass();
    const writes = run.world.requests.filter((request) => request.startsWith("update"));
    expect(writes).toEqual(["update Role lakeside-gateway", "update PodDisruptionBudget lakeside-gateway"]);
  });

  test("a template change writes the Deployment of its component alone", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.forgetRequests();
    run.world.edit("lakeside", (spec) => {
      spec.gateway.template = { spec: { nodeSelector: { pool: "edge" } } };
    });
    await run.settle();
    expect(run.world.requests.filter((request) => request.startsWith("update"))).toEqual([
      "update Deployment lakeside-gateway",
    ]);
    run.world.edit("lakeside", (spec) => {
      delete spec.gateway.template;
    });
    await run.settle();
    expect(run.world.get("Deployment", "lakeside-gateway")?.spec?.template.spec).not.toHaveProperty("nodeSelector");
  });
});

describe("the gateway's account", () => {
  test("is not created when the user names one, and is deleted when the user begins to", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.edit("lakeside", (spec) => {
      spec.gateway.template = { spec: { serviceAccountName: "mine" } };
    });
    for (let pass = 0; pass < 3; pass++) await run.pass();
    expect(run.world.inventory()).toContain("ServiceAccount lakeside-gateway");
    await run.settle();
    const left = run.world.inventory().filter((name) => /^(Role|RoleBinding|ServiceAccount) /.test(name));
    expect(left).toEqual([]);
    expect(run.world.get("Deployment", "lakeside-gateway")?.spec?.template.spec?.serviceAccountName).toBe("mine");
  });

  test("is kept when the user names the one that the operator created", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.edit("lakeside", (spec) => {
      spec.gateway.template = { spec: { serviceAccountName: "lakeside-gateway" } };
    });
    await run.settle();
    expect(run.world.inventory()).toContain("ServiceAccount lakeside-gateway");
  });
});
