// Existing instances on a real control plane: what a change rolls, what is restored after edits by other clients, and
// what is rejected permanently.
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { engine } from "../harness/fixtures/manifests.ts";
import type { InstanceCluster, TestNamespace } from "./support/instance-cluster.ts";
import { conditionOf, type InstanceHarness, openInstanceHarness, reaches } from "./support/instance-harness.ts";

const GATEWAY = ["ConfigMap/lakeside-gateway-config", "Deployment/lakeside-gateway"] as const;

let harness: InstanceHarness;
beforeAll(async () => {
  harness = await openInstanceHarness();
});
afterAll(() => harness?.[Symbol.asyncDispose]());

/** An admission policy against disruption budgets in one namespace; returns a function that removes it. */
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

/** A status can be read before its writer has the response: to count requests, wait for the end of the pass. */
const passEnded = (ns: TestNamespace, phase: string) =>
  eventually(() =>
    harness.operator.passes.some(({ instance, status }) => instance.namespace === ns.name && status?.phase === phase),
  );

const versionsOf = (ns: TestNamespace, objects: readonly string[]) =>
  Promise.all(
    objects.map(async (object) => {
      const [kind = "", name = ""] = object.split("/");
      const found = await ns.get(kind as "Deployment", name);
      return `${object} ${valueAt(found, ["metadata", "uid"])} ${valueAt(found, ["metadata", "generation"])}`;
    }),
  );

describe("what rolls what", () => {
  test("a template change rolls its own component, and taking it back rolls it again", async () => {
    const ns = await harness.provisioned();
    await harness.atRest();
    const others = ["Deployment/lakeside-gateway", "StatefulSet/lakeside-metadata-pg"];
    const before = await versionsOf(ns, others);
    const template = (labels: object | null) => ({
      spec: { metadata: { template: labels === null ? null : { metadata: { labels } } } },
    });
    await ns.patch("FireboltInstance", "lakeside", template({ team: "a" }));
    const labelOf = async () =>
      valueAt(await ns.get("Deployment", "lakeside-metadata"), ["spec", "template", "metadata", "labels", "team"]);
    await eventually(async () => expect(await labelOf()).toBe("a"));
    await ns.patch("FireboltInstance", "lakeside", template(null));
    await eventually(async () => expect(await labelOf()).toBeUndefined());
    await reaches(ns, "Ready");
    expect(await versionsOf(ns, others)).toEqual(before);
  });

  test("a field that the Deployment was created with disappears with the template", async () => {
    const tolerations = [{ key: "spot", operator: "Exists" }];
    const ns = await harness.provisioned({
      metadata: { template: { metadata: { labels: { team: "a" } }, spec: { tolerations } } },
    });
    const pod = async (at: readonly string[]) =>
      valueAt(await ns.get("Deployment", "lakeside-metadata"), ["spec", "template", ...at]);
    expect(await pod(["metadata", "labels", "team"])).toBe("a");
    expect(await pod(["spec", "tolerations"])).toEqual(tolerations);
    await ns.patch("FireboltInstance", "lakeside", { spec: { metadata: { template: null } } });
    await eventually(async () => {
      expect(await pod(["metadata", "labels", "team"])).toBeUndefined();
      expect(await pod(["spec", "tolerations"])).toBeUndefined();
    });
    await reaches(ns, "Ready");
  });

  test("engines-never-touch-gateway: no engine event changes the gateway", async () => {
    const ns = await harness.provisioned();
    // Instances of earlier tests may still be reconciled, and requests cannot be attributed to an instance.
    await harness.atRest();
    const before = await versionsOf(ns, GATEWAY);
    const sent = await harness.requestsDuring(async () => {
      await ns.create("FireboltEngine", engine({ name: "e1", namespace: ns.name, replicas: 2 }));
      await ns.patch("FireboltEngine", "e1", { spec: { replicas: 4 } });
      await ns.patch("FireboltEngine", "e1", { spec: { template: { metadata: { labels: { a: "b" } } } } });
      await harness.passes(3);
      await ns.remove("FireboltEngine", "e1");
      await harness.passes(3);
    });
    expect(sent).toEqual([]);
    expect(await versionsOf(ns, GATEWAY)).toEqual(before);
  });
});

describe("instance-objects-edited: drift", () => {
  const restored = (check: () => Promise<void>) => eventually(check, { describe: "the restoration" });

  test("an edited ConfigMap, a deleted Service and a deleted Role come back", async () => {
    const ns = await harness.provisioned();
    const config = valueAt(await ns.get("ConfigMap", "lakeside-gateway-config"), ["data"]);
    await ns.patch("ConfigMap", "lakeside-gateway-config", { data: { "envoy.yaml": "broken" } });
    await ns.remove("Service", "lakeside-gateway");
    await ns.remove("Role", "lakeside-gateway");
    await restored(async () => {
      expect(valueAt(await ns.get("ConfigMap", "lakeside-gateway-config"), ["data"])).toEqual(config);
      expect(await ns.names("Service")).toContain("lakeside-gateway");
      expect(await ns.names("Role")).toEqual(["lakeside-gateway"]);
    });
  });

  test("additions to a Role's rules, to a binding's subjects and to selectors are removed", async () => {
    const ns = await harness.provisioned();
    const parts = [
      ["Role", ["rules"]],
      ["RoleBinding", ["subjects"]],
      ["PodDisruptionBudget", ["spec", "selector"]],
      ["Service", ["spec", "selector"]],
    ] as const;
    const all = () =>
      Promise.all(parts.map(async ([kind, path]) => valueAt(await ns.get(kind, "lakeside-gateway"), path)));
    const before = await all();
    const [rules, subjects] = before;
    const narrowed = (Array.isArray(rules) ? rules : []).map((rule) => ({ ...rule, resourceNames: ["e1"] }));
    const other = { kind: "ServiceAccount", name: "other", namespace: ns.name };
    await ns.patch("Role", "lakeside-gateway", { rules: narrowed });
    await ns.patch("RoleBinding", "lakeside-gateway", {
      subjects: [...(Array.isArray(subjects) ? subjects : []), other],
    });
    const matchExpressions = [{ key: "team", operator: "Exists" }];
    await ns.patch("PodDisruptionBudget", "lakeside-gateway", { spec: { selector: { matchExpressions } } });
    await ns.patch("Service", "lakeside-gateway", { spec: { selector: { team: "a" } } });
    await restored(async () => expect(await all()).toEqual(before));
    await harness.atRest();
    expect(await harness.requestsDuring(() => harness.passes(3))).toEqual([]);
  });

  test("a renumbered port, whose name would then be there twice, comes back", async () => {
    const ns = await harness.provisioned();
    const ports = [{ name: "http", port: 81, targetPort: 8080, protocol: "TCP" }];
    await ns.patch("Service", "lakeside-gateway", { spec: { ports } });
    await restored(async () => {
      const found = valueAt(await ns.get("Service", "lakeside-gateway"), ["spec", "ports"]);
      expect(found).toMatchObject([{ name: "http", port: 80 }]);
    });
    expect((await ns.instance()).status?.phase).toBe("Ready");
  });

  test("what others add is left alone, and is not written about", async () => {
    const ns = await harness.provisioned();
    await ns.patch("Deployment", "lakeside-gateway", {
      metadata: { annotations: { "example.com/owner": "x" } },
      spec: {
        template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" } } },
      },
    });
    // While pods roll they are observed, and their state is written to the status.
    await eventually(async () => {
      const deployment = await ns.get("Deployment", "lakeside-gateway");
      expect(deployment).toMatchObject({
        metadata: { generation: valueAt(deployment, ["status", "observedGeneration"]) },
        status: { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 },
      });
      const { conditions } = (await ns.instance()).status ?? {};
      const gateway = conditions?.find(({ type }) => type === "GatewayReady");
      expect(gateway?.message).toBe("Deployment lakeside-gateway has a ready replica");
    });
    await harness.atRest();
    const sent = await harness.requestsDuring(() => harness.passes(3));
    expect(sent).toEqual([]);
    const found = await ns.get("Deployment", "lakeside-gateway");
    expect(valueAt(found, ["metadata", "annotations", "example.com/owner"])).toBe("x");
  });

  test("a stranger's Service of the same name is not adopted", async () => {
    const ns = await harness.cluster.namespace();
    const spec = { selector: { app: "theirs" }, ports: [{ port: 1 }] };
    const theirs = await ns.create("Service", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "lakeside-metadata" },
      spec,
    });
    await ns.createInstance();
    await eventually(async () => {
      const found = await ns.instance();
      expect(conditionOf(found, "MetadataReady")).toBe("False/EnsureFailed");
    });
    expect(await ns.get("Service", "lakeside-metadata")).toEqual(theirs);
    await ns.remove("FireboltInstance", "lakeside");
    await eventually(async () => expect(await ns.names("FireboltInstance")).toEqual([]));
    expect(await ns.names("Service")).toEqual(["lakeside-metadata"]);
  });
});

describe("failed-has-a-way-out: Failed", () => {
  test("a rejected field is reported, and a spec edit starts a new attempt", async () => {
    const ns = await harness.provisioned();
    await ns.patch("FireboltInstance", "lakeside", { spec: { gateway: { replicas: -1 } } });
    const failed = await reaches(ns, "Failed");
    const ready = failed.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready?.message).toMatch(/^GatewayReady: Deployment lakeside-gateway: spec.replicas: Invalid value: -1/);
    expect(failed.status?.gatewayEndpoint).toBeDefined();
    await ns.patch("FireboltInstance", "lakeside", { spec: { gateway: { replicas: 1 } } });
    await reaches(ns, "Ready");
  });

  test("the annotation ends Failed after a cause outside the spec is resolved", async () => {
    const ns = await harness.cluster.namespace();
    const lift = await refuseBudgets(harness.cluster, ns.name);
    await ns.createInstance();
    const failed = await reaches(ns, "Failed");
    expect(failed.status?.conditions?.find(({ type }) => type === "GatewayReady")?.message).toMatch(
      /^PodDisruptionBudget lakeside-gateway: .*no budgets here/,
    );
    await passEnded(ns, "Failed");
    await harness.atRest();
    const sent = await harness.requestsDuring(() => harness.passes(3));
    expect(sent).toEqual([]);
    await lift();
    const annotations = { "firebolt.io/reset-failed": "the policy is gone" };
    await ns.patch("FireboltInstance", "lakeside", { metadata: { annotations } });
    await reaches(ns, "Ready");
  });
});
