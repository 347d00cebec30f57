// Instances on a real control plane: real Deployment and StatefulSet controllers, a scheduler and simulated pods, from the first
// object to the last.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { valueAt } from "../../dev/control-plane/api-request.ts";
import type { FireboltInstance } from "../../src/api/instance.ts";
import { eventually } from "../support/cluster.ts";
import { fastClock } from "../support/fast-clock.ts";
import { type InstanceCluster, type Room, startInstanceCluster } from "../support/instance-cluster.ts";
import { type InstanceOperator, startInstanceOperator } from "../support/instance-operator.ts";
import { engine } from "../support/manifests.ts";

/** How much faster than real the operator's clock runs: its rechecks every 30 s come every second. */
const SPEED = 30;
const SECRET = "lakeside-metadata-postgres-creds";
const GATEWAY = ["ConfigMap/lakeside-gateway-config", "Deployment/lakeside-gateway"] as const;

let cluster: InstanceCluster;
let operator: InstanceOperator;
beforeAll(async () => {
  cluster = await startInstanceCluster();
  operator = await startInstanceOperator({ kubeconfig: cluster.adminKubeconfig, clock: fastClock(SPEED) });
});
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const conditionOf = ({ status }: FireboltInstance, type: string) => {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : `${found.status}/${found.reason}`;
};

function reaches(room: Room, phase: string): Promise<FireboltInstance> {
  return eventually(
    async () => {
      const found = await room.instance();
      expect(found.status?.phase).toBe(phase);
      return found;
    },
    { describe: `phase ${phase}` },
  );
}

async function provisioned(spec?: Parameters<Room["createInstance"]>[0], security?: "restricted"): Promise<Room> {
  const room = await cluster.namespace(security);
  await room.createInstance(spec);
  await reaches(room, "Ready");
  return room;
}

/** Requests that the operator sends while `during` runs, as `verb resource`. */
async function requestsDuring(during: () => Promise<void>): Promise<readonly string[]> {
  const before = operator.requests.length;
  await during();
  return operator.requests.slice(before).map(({ verb, resource }) => `${verb} ${resource}`);
}

/** Lets the operator make this many more passes over the instances it has. */
async function passes(count: number): Promise<void> {
  const before = operator.passes.length;
  await eventually(() => operator.passes.length >= before + count, { describe: `${count} more passes` });
}

/** An admission policy against disruption budgets in one namespace; answers the way to lift it. */
async function refuseBudgets({ api }: InstanceCluster, namespace: string): Promise<() => Promise<void>> {
  const root = "/apis/admissionregistration.k8s.io/v1";
  const head = (kind: string) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name: namespace },
  });
  const rules = [
    { apiGroups: ["policy"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["poddisruptionbudgets"] },
  ];
  const policy = {
    matchConstraints: {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      resourceRules: rules,
    },
    validations: [{ expression: "false", message: "no budgets here" }],
  };
  const policies = `${root}/validatingadmissionpolicies`;
  await api.expect({ method: "POST", path: policies, body: { ...head("ValidatingAdmissionPolicy"), spec: policy } });
  const binding = {
    ...head("ValidatingAdmissionPolicyBinding"),
    spec: { policyName: namespace, validationActions: ["Deny"] },
  };
  const bindings = `${root}/validatingadmissionpolicybindings`;
  await api.expect({ method: "POST", path: bindings, body: binding });
  const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets?dryRun=All`;
  const body = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "probe" }, spec: {} };
  const answers = (status: number) =>
    eventually(async () => expect((await api.send({ method: "POST", path, body })).status).toBe(status));
  await answers(422);
  return async () => {
    await api.expect({ method: "DELETE", path: `${bindings}/${namespace}` });
    await api.expect({ method: "DELETE", path: `${policies}/${namespace}` });
    await answers(201);
  };
}

const versionsOf = (room: Room, objects: readonly string[]) =>
  Promise.all(
    objects.map(async (object) => {
      const [kind = "", name = ""] = object.split("/");
      const found = await room.get(kind as "Deployment", name);
      return `${object} ${valueAt(found, ["metadata", "uid"])} ${valueAt(found, ["metadata", "generation"])}`;
    }),
  );

test("S54: a new instance in a namespace that admits only restricted pods", async () => {
  const room = await cluster.namespace("restricted");
  const before = operator.requests.length;
  await room.createInstance();
  const ready = await reaches(room, "Ready");
  expect(ready.status).toMatchObject({
    metadataReady: true,
    gatewayReady: true,
    metadataEndpoint: `lakeside-metadata.${room.name}.svc.cluster.local:7000`,
    gatewayEndpoint: `lakeside-gateway.${room.name}.svc.cluster.local`,
  });
  expect(conditionOf(ready, "Ready")).toBe("True/AllComponentsReady");
  expect(ready.spec.id).toMatch(/^[0-9A-Z]{26}$/);
  // Pod Security refuses pods, not Deployments: only pods that are there have passed it.
  const pods = await eventually(async () => {
    const names = await room.names("Pod");
    expect(names).toHaveLength(4);
    return names;
  });
  for (const component of [/^lakeside-metadata-pg-0$/, /^lakeside-metadata-[0-9a-f]+-/, /^lakeside-gateway-/])
    expect(pods.some((pod) => component.test(pod))).toBe(true);
  const sent = operator.requests.slice(before);
  expect(sent.every(({ code }) => code === "200" || code === "201" || code === "404" || code === "409")).toBe(true);
  expect(sent.length).toBeLessThanOrEqual(45);
  process.stderr.write(`first provisioning: ${sent.length} requests\n`);
});

test("an idle instance costs no request, although passes go on", async () => {
  await provisioned();
  await passes(2);
  const sent = await requestsDuring(() => passes(6));
  expect(sent).toEqual([]);
});

test("the generated password is in no log line and no event", async () => {
  const room = await provisioned();
  const encoded = String(valueAt(await room.get("Secret", SECRET), ["data", "password"]));
  const password = Buffer.from(encoded, "base64").toString();
  expect(password).toMatch(/^[0-9a-f]{24}$/);
  const told = [...operator.log, ...operator.events.map(({ note }) => note)].join("\n");
  expect(told).toContain(`credentials created {"secret":"${SECRET}"}`);
  expect(told).not.toContain(password);
  expect(told).not.toContain(encoded);
});

describe("degraded and recovered", () => {
  test("S55: metadata", async () => {
    const room = await provisioned();
    await room.setReady("metadata", false);
    const degraded = await reaches(room, "Degraded");
    expect(degraded.status).not.toHaveProperty("metadataEndpoint");
    expect(degraded.status?.gatewayEndpoint).toBeDefined();
    expect(conditionOf(degraded, "MetadataReady")).toBe("False/Provisioning");
    await room.setReady("metadata", true);
    expect((await reaches(room, "Ready")).status?.metadataEndpoint).toBeDefined();
    const phases = operator.passes
      .filter(({ instance }) => instance.namespace === room.name)
      .map(({ status }) => status?.phase);
    expect(phases.lastIndexOf("Provisioning")).toBeLessThan(phases.indexOf("Ready"));
  });

  test("S56: the gateway", async () => {
    const room = await provisioned();
    await room.setReady("gateway", false);
    const degraded = await reaches(room, "Degraded");
    expect(degraded.status).not.toHaveProperty("gatewayEndpoint");
    expect(degraded.status?.metadataEndpoint).toBeDefined();
    await room.setReady("gateway", true);
    await reaches(room, "Ready");
  });
});

describe("external PostgreSQL (S57)", () => {
  const postgres = { host: "db.example.com", database: "meta", credentialsSecretRef: { name: "login" } };
  const refused = (room: Room, message: RegExp) =>
    eventually(async () => {
      const found = await room.instance();
      expect(conditionOf(found, "MetadataReady")).toBe("False/PostgresSecretPreflightFailed");
      expect(found.status?.conditions?.find(({ type }) => type === "MetadataReady")?.message).toMatch(message);
    });

  test("a missing and then a malformed Secret are told, calmly, and the right one is enough", async () => {
    const room = await cluster.namespace();
    await room.createInstance({ metadata: { postgres } });
    await refused(room, /Secret login does not exist/);
    expect(await room.names("Deployment")).toEqual([]);
    // Ten seconds between looks, at thirty times the speed: one read and no write per pass.
    const sent = await requestsDuring(() => passes(5));
    expect(new Set(sent)).toEqual(new Set(["get secrets"]));
    expect(sent.length).toBeLessThanOrEqual(8);

    await room.create("Secret", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "login" },
      stringData: { user: "u" },
    });
    await refused(room, /Secret login has no value for username and password/);
    await room.patch("Secret", "login", { stringData: { username: "u", password: "p" } });
    await reaches(room, "Ready");
    expect(await room.names("StatefulSet")).toEqual([]);
    const volumes = valueAt(await room.get("Deployment", "lakeside-metadata"), [
      "spec",
      "template",
      "spec",
      "volumes",
      1,
    ]);
    expect(volumes).toMatchObject({ name: "postgres-creds", secret: { secretName: "login" } });
  });

  test("a change from internal to external removes the workload and keeps the data", async () => {
    const room = await provisioned();
    await room.create("Secret", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "login" },
      stringData: { username: "u", password: "p" },
    });
    const secret = await room.get("Secret", SECRET);
    await room.patch("FireboltInstance", "lakeside", { spec: { metadata: { postgres } } });
    await eventually(async () => expect(await room.names("StatefulSet")).toEqual([]));
    await eventually(async () =>
      expect(await room.names("Service")).toEqual(["lakeside-gateway", "lakeside-metadata"]),
    );
    expect(await room.names("PersistentVolumeClaim")).toEqual(["data-lakeside-metadata-pg-0"]);
    expect(await room.get("Secret", SECRET)).toEqual(secret);
    await reaches(room, "Ready");
  });
});

describe("what rolls what", () => {
  test("a template change rolls its own component, and taking it back rolls it again", async () => {
    const room = await provisioned();
    const others = ["Deployment/lakeside-gateway", "StatefulSet/lakeside-metadata-pg"];
    const before = await versionsOf(room, others);
    const template = (labels: object | null) => ({
      spec: { metadata: { template: labels === null ? null : { metadata: { labels } } } },
    });
    await room.patch("FireboltInstance", "lakeside", template({ team: "a" }));
    const labelOf = async () =>
      valueAt(await room.get("Deployment", "lakeside-metadata"), ["spec", "template", "metadata", "labels", "team"]);
    await eventually(async () => expect(await labelOf()).toBe("a"));
    await room.patch("FireboltInstance", "lakeside", template(null));
    await eventually(async () => expect(await labelOf()).toBeUndefined());
    await reaches(room, "Ready");
    expect(await versionsOf(room, others)).toEqual(before);
  });

  test("I54: no engine event changes the gateway", async () => {
    const room = await provisioned();
    const before = await versionsOf(room, GATEWAY);
    await room.create("FireboltEngine", engine({ name: "e1", namespace: room.name, replicas: 2 }));
    await room.patch("FireboltEngine", "e1", { spec: { replicas: 4 } });
    await room.patch("FireboltEngine", "e1", { spec: { template: { metadata: { labels: { a: "b" } } } } });
    const sent = await requestsDuring(() => passes(3));
    expect(sent).toEqual([]);
    await room.remove("FireboltEngine", "e1");
    await passes(2);
    expect(await versionsOf(room, GATEWAY)).toEqual(before);
  });
});

describe("drift (S59)", () => {
  const restored = (check: () => Promise<void>) => eventually(check, { describe: "the restoration" });

  test("an edited ConfigMap, a deleted Service and a deleted Role come back", async () => {
    const room = await provisioned();
    const config = valueAt(await room.get("ConfigMap", "lakeside-gateway-config"), ["data"]);
    await room.patch("ConfigMap", "lakeside-gateway-config", { data: { "envoy.yaml": "broken" } });
    await room.remove("Service", "lakeside-gateway");
    await room.remove("Role", "lakeside-gateway");
    await restored(async () => {
      expect(valueAt(await room.get("ConfigMap", "lakeside-gateway-config"), ["data"])).toEqual(config);
      expect(await room.names("Service")).toContain("lakeside-gateway");
      expect(await room.names("Role")).toEqual(["lakeside-gateway"]);
    });
  });

  test("a renumbered port, whose name would then be there twice, comes back", async () => {
    const room = await provisioned();
    const ports = [{ name: "http", port: 81, targetPort: 8080, protocol: "TCP" }];
    await room.patch("Service", "lakeside-gateway", { spec: { ports } });
    await restored(async () => {
      const found = valueAt(await room.get("Service", "lakeside-gateway"), ["spec", "ports"]);
      expect(found).toMatchObject([{ name: "http", port: 80 }]);
    });
    expect((await room.instance()).status?.phase).toBe("Ready");
  });

  test("what others add is left alone, and is not written about", async () => {
    const room = await provisioned();
    await room.patch("Deployment", "lakeside-gateway", {
      metadata: { annotations: { "example.com/owner": "x" } },
      spec: {
        template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" } } },
      },
    });
    await passes(2);
    const sent = await requestsDuring(() => passes(3));
    expect(sent).toEqual([]);
    const found = await room.get("Deployment", "lakeside-gateway");
    expect(valueAt(found, ["metadata", "annotations", "example.com/owner"])).toBe("x");
  });

  test("a stranger's Service of the same name is not adopted", async () => {
    const room = await cluster.namespace();
    const spec = { selector: { app: "theirs" }, ports: [{ port: 1 }] };
    const theirs = await room.create("Service", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "lakeside-metadata" },
      spec,
    });
    await room.createInstance();
    await eventually(async () => {
      const found = await room.instance();
      expect(conditionOf(found, "MetadataReady")).toBe("False/EnsureFailed");
    });
    expect(await room.get("Service", "lakeside-metadata")).toEqual(theirs);
    await room.remove("FireboltInstance", "lakeside");
    await eventually(async () => expect(await room.names("FireboltInstance")).toEqual([]));
    expect(await room.names("Service")).toEqual(["lakeside-metadata"]);
  });
});

describe("Failed (ruling 5)", () => {
  test("a refused field is shown, and a spec edit leaves it", async () => {
    const room = await provisioned();
    await room.patch("FireboltInstance", "lakeside", { spec: { gateway: { replicas: -1 } } });
    const failed = await reaches(room, "Failed");
    const ready = failed.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready?.message).toMatch(/^GatewayReady: Deployment lakeside-gateway: spec.replicas: Invalid value: -1/);
    expect(failed.status?.gatewayEndpoint).toBeDefined();
    await room.patch("FireboltInstance", "lakeside", { spec: { gateway: { replicas: 1 } } });
    await reaches(room, "Ready");
  });

  test("the annotation leaves it when the cause was outside the spec and is gone", async () => {
    const room = await cluster.namespace();
    const lift = await refuseBudgets(cluster, room.name);
    await room.createInstance();
    const failed = await reaches(room, "Failed");
    expect(failed.status?.conditions?.find(({ type }) => type === "GatewayReady")?.message).toMatch(
      /^PodDisruptionBudget lakeside-gateway: .*no budgets here/,
    );
    const sent = await requestsDuring(() => passes(3));
    expect(sent).toEqual([]);
    await lift();
    const annotations = { "firebolt.io/reset-failed": "the policy is gone" };
    await room.patch("FireboltInstance", "lakeside", { metadata: { annotations } });
    await reaches(room, "Ready");
  });
});

describe("deletion (S60)", () => {
  test("leaves nothing behind, and the name can be used again", async () => {
    const room = await provisioned(undefined, "restricted");
    const secret = await room.get("Secret", SECRET);
    await room.create("FireboltEngine", engine({ name: "e1", namespace: room.name }));
    await room.remove("FireboltInstance", "lakeside");
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
          expect([kind, await room.names(kind)]).toEqual([kind, []]);
        expect(await room.names("ServiceAccount")).toEqual(["default"]);
        expect(await room.names("ConfigMap")).toEqual(["kube-root-ca.crt"]);
      },
      { timeoutMs: 30_000 },
    );
    expect(await room.names("FireboltEngine")).toEqual(["e1"]);
    await room.createInstance();
    await reaches(room, "Ready");
    const data = (object: unknown) => valueAt(object, ["data", "password"]);
    expect(data(await room.get("Secret", SECRET))).not.toBe(data(secret));
  });

  test("the Secret of an external database survives", async () => {
    const room = await cluster.namespace();
    const login = await room.create("Secret", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "login" },
      stringData: { username: "u", password: "p" },
    });
    await room.createInstance({
      metadata: { postgres: { host: "db", database: "meta", credentialsSecretRef: { name: "login" } } },
    });
    await reaches(room, "Ready");
    await room.remove("FireboltInstance", "lakeside");
    await eventually(async () => expect(await room.names("Deployment")).toEqual([]));
    expect(await room.get("Secret", "login")).toEqual(login);
  });
});
