// The chart over a matrix of values with the real Helm: it renders, twice the same, and the real API server accepts every object. The
// manager's command line holds no flag that the program does not know.
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { renderWebhookConfigurations } from "../../src/admission/registration/webhook-configurations.ts";
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import { renderInstanceObjects } from "../../src/instance/render/instance-objects.ts";
import { flagName, knownFlags, managerArgs } from "../harness/helm/chart-flags.ts";
import {
  CRD_CHART,
  type Helm,
  OPERATOR_CHART,
  openHelm,
  parseManifests,
  type RenderedObject,
} from "../harness/helm/helm.ts";
import { rulesOf } from "../harness/helm/rbac-grants.ts";
import { buildProgram } from "../harness/programs/operator-process.ts";
import { Addresses, dryRun, installForeignKinds, isForeign, podOf } from "./support/dry-run.ts";
import { CHART_CASES, chartCase } from "./support/values-matrix.ts";

const NAMESPACE = "chart-system";
const RESTRICTED = "chart-restricted";
const PODSECURITY = "pod-security.kubernetes.io/enforce";

let helm: Helm;
let api: Api;
let removeForeignKinds: () => Promise<void>;
const texts = new Map<string, string>();
const rendered = new Map<string, readonly RenderedObject[]>();

const release = (name: string) => ({ name: "fo", namespace: NAMESPACE, values: chartCase(name) });
const objectsOf = (name: string): readonly RenderedObject[] => rendered.get(name) ?? [];
const sorted = (texts: readonly string[]) => texts.toSorted();
const grantsIn = (role: unknown): readonly string[] =>
  rulesOf(role).flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  );
/** By the Role that the instance controller renders. */
function gatewayGrants(hasWakeAgent: boolean, wakeMode: "annotation" | "demand"): readonly string[] {
  const instance = {
    spec: { metadataNG: false, metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 } },
  };
  const { gateway } = renderInstanceObjects(instance, {
    images: OPERATOR_DEFAULTS.images,
    metadataConfigFormat: "xml",
    wakeMode,
    ...(hasWakeAgent ? { wakeAgent: { image: "i", pullPolicy: "" } } : {}),
  });
  return grantsIn(gateway.find(({ kind }) => kind === "Role"));
}
const find = (name: string, kind: string, suffix = ""): RenderedObject | undefined =>
  objectsOf(name).find((object) => object.kind === kind && object.metadata.name.endsWith(suffix));

beforeAll(async () => {
  [helm] = await Promise.all([openHelm(), buildProgram()]);
  api = openApiFromKubeconfig(inject("adminKubeconfig"));
  removeForeignKinds = await installForeignKinds(api);
  for (const name of [NAMESPACE, RESTRICTED, "tenant-a", "tenant-b"]) {
    const labels = name === RESTRICTED ? { [PODSECURITY]: "restricted" } : {};
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    await api.expect({ method: "POST", path: "/api/v1/namespaces", body }, [409]);
  }
  for (const { name } of CHART_CASES) {
    const text = await helm.template(release(name));
    texts.set(name, text);
    rendered.set(name, parseManifests(text));
  }
  console.log(`helm template: ${CHART_CASES.length} combinations of values`);
}, 300_000);

afterAll(async () => {
  await removeForeignKinds?.();
  api?.close();
  await helm?.[Symbol.asyncDispose]();
});

test.each([OPERATOR_CHART, CRD_CHART])("helm lint --strict %s", async (chart) => {
  expect(await helm.expect(["lint", "--strict", chart])).toContain("0 chart(s) failed");
});

test("no two objects of a render have the same identity", () => {
  for (const { name } of CHART_CASES) {
    const ids = objectsOf(name).map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
    expect(new Set(ids).size, name).toBe(ids.length);
  }
});

test("a second render is the same to the byte, except where Helm makes the certificate", async () => {
  for (const { name, random = false } of CHART_CASES)
    expect((await helm.template(release(name))) === texts.get(name), name).toBe(!random);
}, 300_000);

test("the API server accepts every object, and every pod under the level restricted", async () => {
  const addresses = new Addresses(api);
  const seen = new Set<string>();
  const counts = { objects: 0, foreign: 0, pods: 0 };
  const show = async (object: RenderedObject, count: keyof typeof counts, source: string): Promise<void> => {
    const text = JSON.stringify(object);
    if (seen.has(text)) return;
    seen.add(text);
    counts[count] += 1;
    try {
      await dryRun(api, addresses, object);
    } catch (error) {
      throw new Error(`${source}: ${object.kind} ${object.metadata.name}`, { cause: error });
    }
  };
  for (const { name } of CHART_CASES) {
    for (const object of objectsOf(name)) {
      await show(object, isForeign(object) ? "foreign" : "objects", name);
      if (object.kind === "Deployment") await show(podOf(object, RESTRICTED), "pods", name);
    }
  }
  console.log(
    `server-side dry run: ${counts.objects} different objects, ${counts.foreign} of kinds whose definitions are not ours, ` +
      `${counts.pods} pods under "restricted"`,
  );
  expect(counts.objects).toBeGreaterThan(100);
  expect(counts.pods).toBeGreaterThan(20);
}, 300_000);

describe("the manager's command line", () => {
  test("holds no flag that the program does not know", () => {
    const known = knownFlags();
    const passed = new Set(CHART_CASES.flatMap(({ name }) => managerArgs(objectsOf(name)).map(flagName)));
    expect([...passed].filter((flag) => !known.has(flag))).toEqual([]);
  });

  test("is the defaults' own with the defaults", () => {
    const args = managerArgs(objectsOf("cluster, self-managed, secure metrics, proxy"));
    expect(args).toContain("--leader-elect");
    expect(args).toContain("--webhook-cert-mode=self-managed");
    expect(args.filter((arg) => /namespaces|bound|engine-max|default-image|telemetry|zap-devel/.test(arg))).toEqual([]);
  });

  test("ends with the additional arguments, which therefore win", () => {
    expect(managerArgs(objectsOf("everything")).at(-1)).toBe("--shutdown-timeout=5s");
  });

  test("in development holds only that of the log flags", () => {
    const logFlags = managerArgs(objectsOf("development logs")).filter((arg) => arg.startsWith("--zap"));
    expect(logFlags).toEqual(["--zap-devel=true"]);
  });
});

describe("what is rendered", () => {
  test.each(["cluster, self-managed, secure metrics, proxy", "a tenant without cluster rights", "everything"])(
    "%s: as reviewed",
    async (name) => {
      const file = name === "everything" ? name : name.startsWith("cluster") ? "default" : "tenant";
      await expect(texts.get(name)).toMatchFileSnapshot(`golden/${file}.yaml`);
    },
  );

  test("webhooks-on-by-default: the webhooks are those that the server serves", () => {
    const name = "cluster, self-managed, secure metrics, proxy";
    const want = renderWebhookConfigurations({
      mutatingName: "fo-firebolt-operator",
      validatingName: "fo-firebolt-operator",
      target: { type: "service", namespace: NAMESPACE, name: "fo-firebolt-operator-webhook", port: 9443 },
      operatorAccount: { namespace: NAMESPACE, name: "fo-firebolt-operator" },
    });
    expect(find(name, "MutatingWebhookConfiguration")).toMatchObject(want.mutating);
    expect(find(name, "ValidatingWebhookConfiguration")).toMatchObject(want.validating);
  });

  test("objects of one's own are rendered as templates", () => {
    expect(find("objects of one's own", "ConfigMap", "extra")).toMatchObject({ metadata: { namespace: NAMESPACE } });
  });

  test("with watched namespaces the webhooks see only those", () => {
    const webhooks = valueAt(find("everything", "ValidatingWebhookConfiguration"), ["webhooks"]);
    const watched = { key: "kubernetes.io/metadata.name", operator: "In", values: ["tenant-a"] };
    const namespaceSelector = { matchLabels: { firebolt: "yes" }, matchExpressions: [watched] };
    expect(webhooks).toEqual(Array(3).fill(expect.objectContaining({ namespaceSelector })));
  });

  test("a tenant without cluster rights gets namespaced objects only", () => {
    const objects = objectsOf("a tenant without cluster rights");
    expect(objects.filter(({ metadata }) => metadata.namespace === undefined)).toEqual([]);
    const roles = objects.filter(({ kind }) => kind === "Role").map(({ metadata }) => metadata.namespace);
    expect(roles.sort()).toEqual([NAMESPACE, "tenant-a", "tenant-a", "tenant-b", "tenant-b"]);
  });

  test("the two shapes of the manager's role have the same rules, without a wildcard", () => {
    const rules = (name: string, kind: string) => valueAt(find(name, kind, "-manager"), ["rules"]);
    const cluster = rules("cluster, self-managed, secure metrics, proxy", "ClusterRole");
    expect(rules("namespaced, self-managed, secure metrics, proxy", "Role")).toEqual(cluster);
    expect(JSON.stringify(cluster)).not.toContain("*");
  });

  test.each([
    { name: "one role for all gateways", wakeAgent: true, wakeMode: "annotation" },
    { name: "one role for all gateways, demand", wakeAgent: true, wakeMode: "demand" },
    { name: "one role for gateways without agents", wakeAgent: false, wakeMode: "annotation" },
    { name: "one role for gateways without agents, demand", wakeAgent: false, wakeMode: "demand" },
  ] as const)("$name: it grants what each instance's Role would, and nothing that the manager lacks", (one) => {
    const { name, wakeAgent, wakeMode } = one;
    const role = find(name, "ClusterRole", "-gateway-wake");
    expect(sorted(grantsIn(role))).toEqual(sorted(gatewayGrants(wakeAgent, wakeMode)));
    const own = new Set(grantsIn(find(name, "ClusterRole", "-manager")));
    expect(grantsIn(role).filter((grant) => !own.has(grant))).toEqual([]);
    expect([...own].filter((grant) => grant.includes(" roles."))).toEqual([]);
    expect(managerArgs(objectsOf(name))).toContain("--gateway-wake-cluster-role=fo-firebolt-operator-gateway-wake");
  });

  test("a gateway role of one's own is bound and not made", () => {
    const name = "a gateway role of one's own";
    expect(find(name, "ClusterRole", "gateways")).toBeUndefined();
    expect(managerArgs(objectsOf(name))).toContain("--gateway-wake-cluster-role=platform:gateways");
    expect(grantsIn(find(name, "ClusterRole", "-manager")).filter((grant) => grant.includes(" roles."))).toEqual([]);
  });

  test("gateways have a Role each, annotate and have a seccomp profile, unless values change that", () => {
    const flags = /wake-mode|wake-cluster-role|component-seccomp/;
    const passed = (name: string) => managerArgs(objectsOf(name)).filter((arg) => flags.test(arg));
    expect(passed("cluster, self-managed, secure metrics, proxy")).toEqual([]);
    expect(passed("demand")).toEqual(["--wake-mode=demand"]);
    expect(passed("gateways without seccomp")).toEqual(["--component-seccomp=none"]);
  });

  test("the manager may reach gateways for their demand where its traffic is restricted", () => {
    const egress = valueAt(find("demand", "NetworkPolicy"), ["spec", "egress"]);
    const podSelector = { matchLabels: { "firebolt.io/component": "gateway" } };
    expect(egress).toContainEqual({
      ports: [{ protocol: "TCP", port: 9903 }],
      to: [{ namespaceSelector: {}, podSelector }],
    });
  });

  test("labels and annotations for all reach every object", () => {
    for (const { kind, metadata } of objectsOf("everything")) {
      expect(metadata["labels"], `${kind} ${metadata.name}`).toMatchObject({ team: "data" });
      expect(metadata["annotations"], `${kind} ${metadata.name}`).toMatchObject({ "example.com/owner": "data" });
    }
  });

  test("selectors are as short as they must stay: they cannot be changed by an upgrade", () => {
    const deployment = find("cluster, self-managed, secure metrics, proxy", "Deployment");
    const matchLabels = {
      "app.kubernetes.io/name": "firebolt-operator",
      "app.kubernetes.io/instance": "fo",
      "control-plane": "controller-manager",
    };
    expect(deployment).toMatchObject({ spec: { selector: { matchLabels } } });
    expect(valueAt(deployment, ["spec", "template", "metadata", "labels"])).toEqual(matchLabels);
  });

  test("a topology constraint without a selector spreads the manager's pods", () => {
    const path = ["spec", "template", "spec", "topologySpreadConstraints", 0, "labelSelector", "matchLabels"];
    expect(valueAt(find("everything", "Deployment"), path)).toMatchObject({ "app.kubernetes.io/name": "fb" });
  });
});
