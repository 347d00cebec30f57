// Instances on a real control plane: real Deployment and StatefulSet controllers, a scheduler and simulated pods, from the first
// object to the last.
import type { RequestInfo } from "@firebolt-operator/kube/client";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { engine } from "../harness/fixtures/manifests.ts";
import type { TestNamespace } from "./support/instance-cluster.ts";
import { conditionOf, type InstanceHarness, openInstanceHarness, reaches, SPEED } from "./support/instance-harness.ts";

const SECRET = "lakeside-metadata-postgres-creds";

let harness: InstanceHarness;
beforeAll(async () => {
  harness = await openInstanceHarness();
});
afterAll(() => harness?.[Symbol.asyncDispose]());

test("instance-created: a new instance in a namespace that admits only restricted pods", async () => {
  const ns = await harness.cluster.namespace("restricted");
  const before = harness.operator.requests.length;
  const beganMs = performance.now();
  await ns.createInstance();
  const ready = await reaches(ns, "Ready");
  expect(ready.status).toMatchObject({
    metadataReady: true,
    gatewayReady: true,
    metadataEndpoint: `lakeside-metadata.${ns.name}.svc.cluster.local:7000`,
    gatewayEndpoint: `lakeside-gateway.${ns.name}.svc.cluster.local`,
  });
  expect(conditionOf(ready, "Ready")).toBe("True/AllComponentsReady");
  expect(ready.spec.id).toMatch(/^[0-9A-Z]{26}$/);
  // Pod Security rejects pods, not Deployments: only existing pods have passed it.
  const pods = await eventually(async () => {
    const names = await ns.names("Pod");
    expect(names).toHaveLength(4);
    return names;
  });
  for (const component of [/^lakeside-metadata-pg-0$/, /^lakeside-metadata-[0-9a-f]+-/, /^lakeside-gateway-/])
    expect(pods.some((pod) => component.test(pod))).toBe(true);
  const sent = harness.operator.requests.slice(before);
  expect(sent.every(({ code }) => code === "200" || code === "201" || code === "404" || code === "409")).toBe(true);
  const elapsedMs = performance.now() - beganMs;
  const of = (verb: string, resource: string) =>
    sent.filter((request) => request.verb === verb && request.resource.split(".")[0] === resource);
  const isBinding = ({ resource }: RequestInfo) => resource.startsWith("rolebindings.");
  const created = sent.filter((request) => request.verb === "create" && !isBinding(request));
  expect(created.map(({ resource, code }) => `${resource.split(".")[0]} ${code}`).sort()).toEqual([
    "configmaps 201",
    "configmaps 201",
    "deployments 201",
    "deployments 201",
    "poddisruptionbudgets 201",
    "roles 201",
    "secrets 201",
    "serviceaccounts 201",
    "services 201",
    "services 201",
    "services 201",
    "statefulsets 201",
  ]);
  // Before and after it is made, and again for every ten seconds of the operator's clock in which metadata is not up.
  expect(of("get", "secrets").length).toBeLessThanOrEqual(2 + (elapsedMs * SPEED) / 10_000);
  // Only of components that take longer than their grace, and then every four seconds of the operator's clock at most.
  const looksAtPods = of("list", "pods").length;
  expect(looksAtPods).toBeLessThanOrEqual((elapsedMs * SPEED) / 4_000);
  // The id, the remembered claim and account, and the steps of components; observations of pods are transient.
  expect(of("patch", "fireboltinstances").length).toBeLessThanOrEqual(8 + 2 * looksAtPods);
  // A claim that no cache shows is looked for before its StatefulSet is made.
  const looks = new Set(["get configmaps", "get persistentvolumeclaims", "get secrets", "list events", "list pods"]);
  const reads = sent.filter(({ verb }) => verb === "get" || verb === "list");
  expect(reads.filter(({ verb, resource }) => !looks.has(`${verb} ${resource}`))).toEqual([]);
  expect(of("get", "configmaps").length).toBeLessThanOrEqual(1);
  expect(of("get", "persistentvolumeclaims").length).toBeLessThanOrEqual(1 + (elapsedMs * SPEED) / 10_000);
  // Pods are listed only where they take their time.
  const verbs = new Set(["list", ...sent.map(({ verb }) => verb)]);
  expect(verbs).toEqual(new Set(["create", "get", "list", "patch"]));
  // The API server may not have heard of the Role that it has just stored.
  const bindings = sent.filter(isBinding).map(({ verb, code }) => `${verb} ${code}`);
  const early = Array.from({ length: bindings.length - 1 }, () => "create 404");
  expect(bindings).toEqual([...early, "create 201"]);
  process.stderr.write(`first provisioning: ${sent.length} requests\n`);
});

test("an idle instance costs no request, although passes go on", async () => {
  await harness.provisioned();
  await harness.atRest();
  const sent = await harness.requestsDuring(() => harness.passes(6));
  expect(sent).toEqual([]);
});

test("the generated password is in no log line and no event", async () => {
  const ns = await harness.provisioned();
  const encoded = String(valueAt(await ns.get("Secret", SECRET), ["data", "password"]));
  const password = Buffer.from(encoded, "base64").toString();
  expect(password).toMatch(/^[0-9a-f]{24}$/);
  const told = [...harness.operator.log, ...harness.operator.events.map(({ note }) => note)].join("\n");
  expect(told).toContain(`credentials created {"secret":"${SECRET}"}`);
  expect(told).not.toContain(password);
  expect(told).not.toContain(encoded);
});

describe("degraded and recovered", () => {
  test("metadata-pod-lost: metadata", async () => {
    const ns = await harness.provisioned();
    await ns.setReady("metadata", false);
    const degraded = await reaches(ns, "Degraded");
    expect(degraded.status).not.toHaveProperty("metadataEndpoint");
    expect(degraded.status?.gatewayEndpoint).toBeDefined();
    expect(conditionOf(degraded, "MetadataReady")).toBe("False/Provisioning");
    await ns.setReady("metadata", true);
    expect((await reaches(ns, "Ready")).status?.metadataEndpoint).toBeDefined();
    const phases = harness.operator.passes
      .filter(({ instance }) => instance.namespace === ns.name)
      .map(({ status }) => status?.phase);
    expect(phases.lastIndexOf("Provisioning")).toBeLessThan(phases.indexOf("Ready"));
  });

  test("gateway-not-ready: the gateway", async () => {
    const ns = await harness.provisioned();
    await ns.setReady("gateway", false);
    const degraded = await reaches(ns, "Degraded");
    expect(degraded.status).not.toHaveProperty("gatewayEndpoint");
    expect(degraded.status?.metadataEndpoint).toBeDefined();
    await ns.setReady("gateway", true);
    await reaches(ns, "Ready");
  });
});

describe("database-secret-missing: external PostgreSQL", () => {
  const postgres = { host: "db.example.com", database: "meta", credentialsSecretRef: { name: "login" } };
  const passesOf = (ns: TestNamespace): number =>
    harness.operator.passes.filter(({ instance }) => instance.namespace === ns.name).length;
  const passesIn = async (ns: TestNamespace, count: number): Promise<void> => {
    const wanted = passesOf(ns) + count;
    await eventually(() => passesOf(ns) >= wanted, {
      describe: `${count} more passes over the instance in ${ns.name}`,
    });
  };
  const refused = (ns: TestNamespace, message: RegExp) =>
    eventually(async () => {
      const found = await ns.instance();
      expect(conditionOf(found, "MetadataReady")).toBe("False/PostgresSecretPreflightFailed");
      expect(found.status?.conditions?.find(({ type }) => type === "MetadataReady")?.message).toMatch(message);
    });

  test("a missing and a malformed Secret are each reported once; a valid one resolves it", async () => {
    // Requests cannot be attributed to an instance: those of earlier tests must be idle.
    await harness.atRest();
    const ns = await harness.cluster.namespace();
    await ns.createInstance({ metadata: { postgres } });
    await refused(ns, /Secret login does not exist/);
    expect(await ns.names("Deployment")).toEqual([]);
    // The pass that reported it has finished.
    await passesIn(ns, 1);
    // Ten seconds between looks, at thirty times the speed: one read and no write per pass.
    const before = passesOf(ns);
    const sent = await harness.requestsDuring(() => passesIn(ns, 5));
    const passes = passesOf(ns) - before;
    expect(new Set(sent)).toEqual(new Set(["get secrets"]));
    expect(sent.length).toBeGreaterThanOrEqual(passes - 1);
    // One pass may be under way.
    expect(sent.length).toBeLessThanOrEqual(passes + 1);

    await ns.create("Secret", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "login" },
      stringData: { user: "u" },
    });
    await refused(ns, /Secret login has no value for username and password/);
    await ns.patch("Secret", "login", { stringData: { username: "u", password: "p" } });
    await reaches(ns, "Ready");
    expect(await ns.names("StatefulSet")).toEqual([]);
    const volumes = valueAt(await ns.get("Deployment", "lakeside-metadata"), [
      "spec",
      "template",
      "spec",
      "volumes",
      1,
    ]);
    expect(volumes).toMatchObject({ name: "postgres-creds", secret: { secretName: "login" } });
  });

  test("a change from internal to external removes the workload and keeps the data", async () => {
    const ns = await harness.provisioned();
    await ns.create("Secret", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "login" },
      stringData: { username: "u", password: "p" },
    });
    const secret = await ns.get("Secret", SECRET);
    await ns.patch("FireboltInstance", "lakeside", { spec: { metadata: { postgres } } });
    await eventually(async () => expect(await ns.names("StatefulSet")).toEqual([]));
    await eventually(async () => expect(await ns.names("Service")).toEqual(["lakeside-gateway", "lakeside-metadata"]));
    expect(await ns.names("PersistentVolumeClaim")).toEqual(["data-lakeside-metadata-pg-0"]);
    expect(await ns.get("Secret", SECRET)).toEqual(secret);
    await reaches(ns, "Ready");
  });
});

describe("instance-deleted-under-engines: deletion", () => {
  test("leaves nothing behind, and the name can be used again", async () => {
    const ns = await harness.provisioned(undefined, "restricted");
    const secret = await ns.get("Secret", SECRET);
    await ns.remove("FireboltInstance", "lakeside");
    await eventually(
      async () => {
        for (const kind of [
          "FireboltInstance",
          "StatefulSet",
          "Deployment",
          "ReplicaSet",
          "Pod",
          "Service",
          "Secret",
          "PersistentVolumeClaim",
          "PodDisruptionBudget",
          "Role",
          "RoleBinding",
        ] as const)
          expect([kind, await ns.names(kind)]).toEqual([kind, []]);
        expect(await ns.names("ServiceAccount")).toEqual(["default"]);
        expect(await ns.names("ConfigMap")).toEqual(["kube-root-ca.crt"]);
      },
      { timeoutMs: 150_000 },
    );
    await ns.createInstance();
    await reaches(ns, "Ready");
    const data = (object: unknown) => valueAt(object, ["data", "password"]);
    expect(data(await ns.get("Secret", SECRET))).not.toBe(data(secret));
  });

  test("engines hold it, and their end, or a word, releases it", async () => {
    const ns = await harness.provisioned();
    for (const name of ["e1", "e2"]) await ns.create("FireboltEngine", engine({ name, namespace: ns.name }));
    const before = await ns.get("Secret", SECRET);
    await ns.remove("FireboltInstance", "lakeside");
    await eventually(async () => expect(conditionOf(await ns.instance(), "Ready")).toBe("False/DeletionBlocked"));
    await ns.remove("Service", "lakeside-gateway");
    await eventually(async () => expect(await ns.find("Service", "lakeside-gateway")).toBeDefined());
    expect(await ns.get("Secret", SECRET)).toEqual(before);
    expect(harness.operator.events.filter(({ reason }) => reason === "DeletionBlocked")).toMatchObject([
      { type: "Warning", note: expect.stringContaining("2 engines use it: e1, e2") },
    ]);
    for (const name of ["e1", "e2"]) await ns.remove("FireboltEngine", name);
    await eventually(async () => expect(await ns.find("FireboltInstance", "lakeside")).toBeUndefined());

    await ns.createInstance();
    await reaches(ns, "Ready");
    await ns.create("FireboltEngine", engine({ name: "e3", namespace: ns.name }));
    await ns.remove("FireboltInstance", "lakeside");
    await eventually(async () => expect(conditionOf(await ns.instance(), "Ready")).toBe("False/DeletionBlocked"));
    const annotations = { "firebolt.io/delete-despite-engines": "true" };
    await ns.patch("FireboltInstance", "lakeside", { metadata: { annotations } });
    await eventually(async () => expect(await ns.find("FireboltInstance", "lakeside")).toBeUndefined());
    expect(await ns.names("FireboltEngine")).toEqual(["e3"]);
  });

  test("a namespace with an instance and its engines is deleted completely", async () => {
    const ns = await harness.provisioned();
    await ns.create("FireboltEngine", engine({ name: "e1", namespace: ns.name }));
    const path = `/api/v1/namespaces/${ns.name}`;
    await harness.cluster.api.expect({ method: "DELETE", path });
    await eventually(async () => expect((await harness.cluster.api.expect({ path }, [404])).status).toBe(404), {
      timeoutMs: 150_000,
    });
  });

  test("the Secret of an external database survives", async () => {
    const ns = await harness.cluster.namespace();
    const login = await ns.create("Secret", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "login" },
      stringData: { username: "u", password: "p" },
    });
    await ns.createInstance({
      metadata: { postgres: { host: "db", database: "meta", credentialsSecretRef: { name: "login" } } },
    });
    await reaches(ns, "Ready");
    await ns.remove("FireboltInstance", "lakeside");
    await eventually(async () => expect(await ns.names("Deployment")).toEqual([]));
    expect(await ns.get("Secret", "login")).toEqual(login);
  });
});
