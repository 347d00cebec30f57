// The health checks of docs/adopt/gitops.md work as documented: the Lua of Argo CD in a real Lua interpreter (Envoy's),
// the CEL of Flux in the API server's own, both against objects as the operator writes them. The code blocks of the
// page are executed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type CustomResourceApi, openCustomResourceApi } from "../harness/control-plane/custom-resource-api.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { type AnyManifest, KINDS, type KindName, manifest, SMALLEST } from "../harness/fixtures/manifests.ts";
import { type Health, runHealthChecks } from "./support/lua-in-envoy.ts";
import { ROOT } from "./support/pages.ts";

const page = readFileSync(join(ROOT, "docs/adopt/gitops.md"), "utf8");

function fileOf(name: string): Readonly<Record<string, unknown>> {
  const [, text = ""] = page.split(`\`\`\`yaml\n# file: ${name}\n`);
  return parse(text.split("\n```")[0] ?? "") as Readonly<Record<string, unknown>>;
}

interface HealthCase {
  readonly what: string;
  readonly kind: KindName;
  /** For an object whose metadata.generation is 2. */
  readonly status: object | undefined;
  readonly argo: Health["status"];
  readonly flux: "current" | "failed" | "inProgress";
}

const ready = (status: "True" | "False", reason: string, observedGeneration = 2) => [
  { type: "InstanceReady", status: "True", reason: "InstanceReady", message: "m", lastTransitionTime: AT },
  { type: "Ready", status, reason, message: `about ${reason}`, lastTransitionTime: AT, observedGeneration },
];
const AT = "2026-01-01T00:00:00Z";
const engine = { phase: "stable", currentGeneration: 1, activeGeneration: 1 };

const CASES: readonly HealthCase[] = [
  { what: "not observed yet", kind: "FireboltEngine", status: undefined, argo: "Progressing", flux: "inProgress" },
  {
    what: "serving",
    kind: "FireboltEngine",
    status: { ...engine, observedGeneration: 2, conditions: ready("True", "EngineReady") },
    argo: "Healthy",
    flux: "current",
  },
  {
    what: "edited, and not observed yet",
    kind: "FireboltEngine",
    status: { ...engine, observedGeneration: 1, conditions: ready("True", "EngineReady", 1) },
    argo: "Progressing",
    flux: "inProgress",
  },
  {
    what: "rolling",
    kind: "FireboltEngine",
    status: { ...engine, phase: "creating", observedGeneration: 1, conditions: ready("False", "Rolling") },
    argo: "Progressing",
    flux: "inProgress",
  },
  {
    what: "stopped on purpose",
    kind: "FireboltEngine",
    status: { ...engine, phase: "stopped", observedGeneration: 2, conditions: ready("False", "Stopped") },
    argo: "Healthy",
    flux: "current",
  },
  {
    what: "with a template that is rejected",
    kind: "FireboltEngine",
    status: { ...engine, observedGeneration: 1, conditions: ready("False", "TemplateRejected") },
    argo: "Degraded",
    flux: "failed",
  },
  {
    what: "rejected before an edit that was not observed yet",
    kind: "FireboltEngine",
    status: { ...engine, observedGeneration: 1, conditions: ready("False", "TemplateRejected", 1) },
    argo: "Progressing",
    flux: "inProgress",
  },
  {
    what: "at rest without its pods",
    kind: "FireboltEngine",
    status: { ...engine, observedGeneration: 2, conditions: ready("False", "PodsNotReady") },
    argo: "Degraded",
    flux: "inProgress",
  },
  { what: "not observed yet", kind: "FireboltInstance", status: undefined, argo: "Progressing", flux: "inProgress" },
  {
    what: "ready",
    kind: "FireboltInstance",
    status: { phase: "Ready", conditions: ready("True", "AllComponentsReady") },
    argo: "Healthy",
    flux: "current",
  },
  {
    what: "provisioning",
    kind: "FireboltInstance",
    status: { phase: "Provisioning", conditions: ready("False", "Provisioning") },
    argo: "Progressing",
    flux: "inProgress",
  },
  {
    what: "degraded",
    kind: "FireboltInstance",
    status: { phase: "Degraded", conditions: ready("False", "Provisioning") },
    argo: "Degraded",
    flux: "inProgress",
  },
  {
    what: "failed",
    kind: "FireboltInstance",
    status: { phase: "Failed", conditions: ready("False", "EnsureFailed") },
    argo: "Degraded",
    flux: "failed",
  },
];

describe("Argo CD", () => {
  const data = fileOf("argocd-cm.yaml")["data"] as Readonly<Record<string, string>>;
  const script = (kind: KindName): string => data[`resource.customizations.health.compute.firebolt.io_${kind}`] ?? "";
  const classes = [
    { what: "usable", status: "True", reason: "Admissible", argo: "Healthy" },
    { what: "refused", status: "False", reason: "OperatorOwnedFieldSet", argo: "Degraded" },
  ] as const;

  test("every case has the health that the page promises, with the operator's words", async () => {
    const cases = [
      ...CASES,
      ...classes.map(({ what, status, reason, argo }) => {
        return { what, kind: "FireboltEngineClass", status: { conditions: ready(status, reason) }, argo } as const;
      }),
    ];
    const found = await runHealthChecks(
      cases.map(({ kind, status }) => ({ script: script(kind), object: { metadata: { generation: 2 }, status } })),
    );
    expect(cases.map(({ kind, what }, index) => [kind, what, found[index]?.status])).toEqual(
      cases.map(({ kind, what, argo }) => [kind, what, argo]),
    );
    expect(found[1]?.message).toBe("about EngineReady");
  });
});

describe("Flux", () => {
  interface Expressions {
    readonly kind: KindName;
    readonly failed: string;
    readonly current: string;
  }
  const spec = fileOf("flux-kustomization.yaml")["spec"] as { readonly healthCheckExprs: readonly Expressions[] };
  let resources: CustomResourceApi;
  beforeAll(() => {
    resources = openCustomResourceApi();
  });
  interface Policy {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly spec: object;
  }
  const policies: string[] = [];
  afterAll(async () => {
    for (const path of policies) await resources.api.send({ method: "DELETE", path });
    resources[Symbol.dispose]();
  });

  /** Fields of the object are variables to Flux; to an admission policy they are fields of `object`. */
  const asPolicy = (expression: string): string =>
    expression.replaceAll(/(?<![\w.'])(status|metadata)(?=\.)/g, "object.$1");

  /** A namespace in which the API server lets objects of the kind be updated for which the expression is true. */
  async function judgeIn(kind: KindName, expression: string): Promise<string> {
    const namespace = await createNamespace("gitops");
    const names = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: namespace } };
    const { group, version, plural } = KINDS[kind];
    const rule = { apiGroups: [group], apiVersions: [version], resources: [plural], operations: ["UPDATE"] };
    const matching = {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      resourceRules: [rule],
    };
    await post("validatingadmissionpolicies", {
      ...names,
      kind: "ValidatingAdmissionPolicy",
      spec: {
        matchConstraints: matching,
        // Without a status Flux waits, as it does for any field that is missing.
        validations: [{ expression: `has(object.status) && (${asPolicy(expression)})`, message: "it is false" }],
      },
    });
    await post("validatingadmissionpolicybindings", {
      ...names,
      kind: "ValidatingAdmissionPolicyBinding",
      spec: { policyName: namespace, validationActions: ["Deny"], matchResources: matching },
    });
    const probe = await storedIn(namespace, { what: "probe", kind, status: undefined });
    await eventually(async () => expect(await isTrue(probe)).toBe(false));
    return namespace;
  }

  async function post(plural: string, body: Policy): Promise<void> {
    const path = `/apis/admissionregistration.k8s.io/v1/${plural}`;
    const answer = await resources.api.send({ method: "POST", path, body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    policies.push(`${path}/${body.metadata.name}`);
  }

  async function storedIn(
    namespace: string,
    { what, kind, status }: Pick<HealthCase, "what" | "kind" | "status">,
  ): Promise<AnyManifest> {
    const identity = { name: what.replaceAll(/[^a-z]+/g, "-"), namespace };
    const wanted = manifest(kind, identity, SMALLEST[kind]);
    const made = await resources.create(wanted);
    if (made.type === "refused") throw new Error(made.message);
    const stored = { ...wanted, metadata: { ...wanted.metadata, ...made.object.metadata } };
    if (status === undefined) return stored;
    // A new object is of generation 1: one less than in the cases.
    const text = JSON.stringify(status).replaceAll(/"observedGeneration":(\d)/g, (_, seen: string) => {
      return `"observedGeneration":${Number(seen) - 1}`;
    });
    const written = await resources.replace({ ...stored, ...{ status: JSON.parse(text) as object } }, { status: true });
    if (written.type === "refused") throw new Error(written.message);
    return { ...wanted, metadata: { ...wanted.metadata, ...written.object.metadata } };
  }

  async function isTrue(object: AnyManifest): Promise<boolean> {
    const metadata = { ...object.metadata, annotations: { "example.com/looked": "at" } };
    const verdict = await resources.replace({ ...object, metadata }, { dryRun: true });
    if (verdict.type === "accepted") return true;
    expect(verdict.message).toContain("it is false");
    return false;
  }

  test.each(spec.healthCheckExprs)("$kind: current and failed", async ({ kind, current, failed }) => {
    const [currentIn, failedIn] = [await judgeIn(kind, current), await judgeIn(kind, failed)];
    const cases = CASES.filter((one) => one.kind === kind);
    const found = [];
    for (const one of cases) {
      const isFailed = await isTrue(await storedIn(failedIn, one));
      const isCurrent = await isTrue(await storedIn(currentIn, one));
      found.push([one.what, isFailed ? "failed" : isCurrent ? "current" : "inProgress"]);
    }
    expect(cases.length).toBeGreaterThan(4);
    expect(found).toEqual(cases.map(({ what, flux }) => [what, flux]));
  });
});

test("reasons that the page names are the operator's", () => {
  const source = readFileSync(join(ROOT, "docs/concepts.md"), "utf8");
  const named = [...page.matchAll(/\b([A-Z][A-Za-z]+) = true|'([A-Z][A-Za-z]+)'/g)].map(([, a, b]) => a ?? b ?? "");
  const reasons = named.filter((word) => !["Ready", "True", "Failed"].includes(word));
  expect(reasons.length).toBeGreaterThan(8);
  expect(reasons.filter((word) => !source.includes(`\`${word}\``))).toEqual([]);
});
