// Deletions of instances on a real control plane with its garbage collector: names that no label can carry, dependents that are to
// stay, and objects of other owners under the instance's names.
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { instance } from "../harness/fixtures/manifests.ts";
import type { Kind, TestNamespace } from "./support/instance-cluster.ts";
import { conditionOf, type InstanceHarness, openInstanceHarness, reaches } from "./support/instance-harness.ts";

let harness: InstanceHarness;
beforeAll(async () => {
  harness = await openInstanceHarness();
});
afterAll(() => harness?.[Symbol.asyncDispose]());

const CHILDREN: readonly (readonly [Kind, string])[] = [
  ["StatefulSet", "lakeside-metadata-pg"],
  ["Service", "lakeside-metadata-pg"],
  ["ConfigMap", "lakeside-metadata-config"],
  ["Deployment", "lakeside-metadata"],
  ["Service", "lakeside-metadata"],
  ["ServiceAccount", "lakeside-gateway"],
  ["Role", "lakeside-gateway"],
  ["RoleBinding", "lakeside-gateway"],
  ["ConfigMap", "lakeside-gateway-config"],
  ["Deployment", "lakeside-gateway"],
  ["Service", "lakeside-gateway"],
  ["PodDisruptionBudget", "lakeside-gateway"],
  ["Secret", "lakeside-metadata-postgres-creds"],
];
const CLAIM = ["PersistentVolumeClaim", "data-lakeside-metadata-pg-0"] as const;

const deleteWith = (ns: TestNamespace, propagationPolicy: "Orphan" | "Foreground") =>
  harness.cluster.api.expect({
    method: "DELETE",
    path: `/apis/compute.firebolt.io/v1alpha1/namespaces/${ns.name}/fireboltinstances/lakeside?propagationPolicy=${propagationPolicy}`,
  });

const isGone = (ns: TestNamespace, name = "lakeside") =>
  eventually(async () => expect(await ns.find("FireboltInstance", name)).toBeUndefined(), {
    // The garbage collector looks for new kinds every 30 s.
    timeoutMs: 150_000,
    describe: `the end of ${name}`,
  });

describe("a name that is longer than a label value", () => {
  test.each([64, 100, 253])("%i characters: rejected with the limit, edited, deleted", async (length) => {
    const ns = await harness.cluster.namespace();
    const name = "n".repeat(length);
    await ns.create("FireboltInstance", instance({ name, namespace: ns.name }));
    const read = async () => (await ns.get("FireboltInstance", name)) as FireboltInstance;
    const refused = (generation: number) =>
      eventually(async () => {
        const found = await read();
        expect(conditionOf(found, "Ready")).toBe("False/NameRejected");
        const ready = found.status?.conditions?.find(({ type }) => type === "Ready");
        expect(ready?.message).toMatch(new RegExp(`must have at most 63 characters and has ${length}:`));
        expect(ready?.observedGeneration).toBeGreaterThanOrEqual(generation);
        return found;
      });
    const { metadata } = await refused(1);
    await ns.patch("FireboltInstance", name, {
      metadata: { labels: { a: "b" } },
      spec: { gateway: { replicas: 3 } },
    });
    await refused((metadata?.generation ?? 0) + 1);
    expect(await ns.names("Deployment")).toEqual([]);
    await ns.remove("FireboltInstance", name);
    await isGone(ns, name);
  });

  test("one whose label fits and whose objects do not shows the API server's message", async () => {
    const ns = await harness.cluster.namespace();
    const name = "n".repeat(63);
    await ns.create("FireboltInstance", instance({ name, namespace: ns.name }));
    await eventually(async () => {
      const found = (await ns.get("FireboltInstance", name)) as FireboltInstance;
      expect(found.status?.conditions?.find(({ type }) => type === "Ready")?.message).toMatch(
        /StatefulSet n+-metadata-pg: metadata.name: .*no more than 63/,
      );
    });
    await ns.remove("FireboltInstance", name);
    await isGone(ns, name);
    await eventually(async () => expect(await ns.names("StatefulSet")).toEqual([]));
  });
});

describe("propagation policies", () => {
  const stateOf = (ns: TestNamespace) =>
    Promise.all(
      [...CHILDREN, CLAIM].map(async ([kind, name]) => {
        const found = await ns.find(kind, name);
        const content = ["spec", "data", "rules", "roleRef"].map((field) => valueAt(found, [field]));
        return [
          kind,
          name,
          valueAt(found, ["metadata", "uid"]),
          valueAt(found, ["metadata", "deletionTimestamp"]),
          content,
        ];
      }),
    );

  test("Orphan: every object stays unchanged, and the next instance with the name reports their owner", async () => {
    const ns = await harness.provisioned();
    await eventually(async () => expect(await ns.names("PersistentVolumeClaim")).toHaveLength(1));
    await harness.atRest();
    const before = await stateOf(ns);
    await deleteWith(ns, "Orphan");
    await isGone(ns);
    expect(await stateOf(ns)).toEqual(before);
    for (const [kind, name] of CHILDREN)
      expect([kind, valueAt(await ns.get(kind, name), ["metadata", "ownerReferences"])]).toEqual([kind, undefined]);
    await ns.createInstance();
    await eventually(async () => {
      const found = await ns.instance();
      expect(conditionOf(found, "Ready")).toBe("False/PostgresEnsureFailed");
      expect(found.status?.conditions?.find(({ type }) => type === "Ready")?.message).toMatch(
        /StatefulSet lakeside-metadata-pg: exists and has no owner/,
      );
    });
    expect(await stateOf(ns)).toEqual(before);
    await ns.remove("FireboltInstance", "lakeside");
    await isGone(ns);
  });

  test("Foreground: the instance is deleted after its objects", async () => {
    const ns = await harness.provisioned();
    await deleteWith(ns, "Foreground");
    await isGone(ns);
    for (const [kind, name] of [...CHILDREN, CLAIM])
      await eventually(async () => expect(await ns.find(kind, name)).toBeUndefined(), {
        describe: `${kind} ${name}`,
      });
  });
});

describe("an object of another owner under a name of the instance", () => {
  const GVK: Readonly<Partial<Record<Kind, string>>> = {
    StatefulSet: "apps/v1",
    Deployment: "apps/v1",
    PodDisruptionBudget: "policy/v1",
    Role: "rbac.authorization.k8s.io/v1",
    RoleBinding: "rbac.authorization.k8s.io/v1",
  };
  const workload = {
    selector: { matchLabels: { app: "theirs" } },
    replicas: 0,
    template: { metadata: { labels: { app: "theirs" } }, spec: { containers: [{ name: "c", image: "theirs" }] } },
  };
  const content = (kind: Kind): object => {
    switch (kind) {
      case "StatefulSet":
        return { spec: { ...workload, serviceName: "theirs" } };
      case "Deployment":
        return { spec: workload };
      case "Service":
        return { spec: { selector: { app: "theirs" }, ports: [{ port: 1 }] } };
      case "PodDisruptionBudget":
        return { spec: { minAvailable: 1, selector: { matchLabels: { app: "theirs" } } } };
      case "Role":
        return { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] };
      case "RoleBinding":
        return { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "theirs" } };
      default:
        return kind === "ServiceAccount" ? { automountServiceAccountToken: false } : { data: { theirs: "dGhlaXJz" } };
    }
  };
  /** Without what its own controllers report. */
  const kept = (object: unknown): unknown => {
    const { status: _, metadata, ...rest } = object as { status?: unknown; metadata: Record<string, unknown> };
    const { resourceVersion: __, managedFields: ___, ...identity } = metadata;
    const annotations = { ...(identity["annotations"] as object | undefined) } as Record<string, unknown>;
    delete annotations["deployment.kubernetes.io/revision"];
    return { ...rest, metadata: { ...identity, annotations } };
  };
  /** Labels come along when a manifest is copied. */
  const LABELS = { none: {}, copied: { "firebolt.io/instance": "lakeside", "firebolt.io/component": "gateway" } };

  async function inTheWay(kind: Kind, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const ns = await harness.cluster.namespace();
    const body = { apiVersion: GVK[kind] ?? "v1", kind, metadata: { name, labels }, ...content(kind) };
    const theirs = kept(await ns.create(kind, body));
    await ns.createInstance();
    const whose = kind === "Secret" ? "has no value for username" : "exists and has no owner, .*: delete or rename it";
    await eventually(async () => {
      const found = await ns.instance();
      expect(conditionOf(found, "Ready")).toMatch(/^False\/(PostgresEnsureFailed|EnsureFailed)$/);
      expect(found.status?.conditions?.find(({ type }) => type === "Ready")?.message).toMatch(
        new RegExp(`(Metadata|Gateway)Ready: ${kind} ${name}:? ${whose}`),
      );
      expect(found.status?.phase).toBe("Provisioning");
    });
    expect(kept(await ns.get(kind, name))).toEqual(theirs);
    await ns.remove("FireboltInstance", "lakeside");
    await isGone(ns);
    expect(kept(await ns.get(kind, name))).toEqual(theirs);
  }

  test.each(CHILDREN)("%s %s: named in the condition, never changed, not deleted", async (kind, name) => {
    await Promise.all(Object.values(LABELS).map((labels) => inTheWay(kind, name, labels)));
  });

  test("the object of an instance that was deleted and created again meanwhile is not adopted either", async () => {
    const ns = await harness.cluster.namespace();
    const ownerReferences = [
      {
        apiVersion: "compute.firebolt.io/v1alpha1",
        kind: "FireboltInstance",
        name: "lakeside",
        uid: "00000000-0000-4000-8000-000000000000",
        controller: true,
      },
    ];
    const metadata = { name: "lakeside-metadata", ownerReferences, finalizers: ["example.com/held"] };
    await ns.create("Service", { apiVersion: "v1", kind: "Service", metadata, ...content("Service") });
    await ns.createInstance();
    await eventually(async () => {
      const found = (await ns.instance()).status?.conditions?.find(({ type }) => type === "MetadataReady");
      expect(found?.message).toMatch(
        /Service lakeside-metadata: exists and belongs to an earlier FireboltInstance lakeside/,
      );
    });
    await ns.patch("Service", "lakeside-metadata", { metadata: { finalizers: null } });
    await ns.remove("Service", "lakeside-metadata");
    await reaches(ns, "Ready");
  });
});
