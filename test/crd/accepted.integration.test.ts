// Manifests that the real API server must accept with our CRDs: the examples, and those that only look wrong.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CustomResourceApi, openCustomResourceApi } from "../harness/control-plane/custom-resource-api.ts";
import { createNamespace } from "../harness/control-plane/requests.ts";
import { type AnyManifest, type KindName, manifest, readExamples, SMALLEST } from "../harness/fixtures/manifests.ts";

let resources: CustomResourceApi;
let namespace: string;
beforeAll(async () => {
  resources = openCustomResourceApi();
  namespace = await createNamespace("accepted");
});
afterAll(() => resources[Symbol.dispose]());

describe("accepted", () => {
  test.each(readExamples())("examples/%s", async (_file, example: AnyManifest) => {
    const inside = { ...example, metadata: { ...example.metadata, namespace } };
    expect(await resources.create(inside, { dryRun: true })).toMatchObject({ type: "accepted" });
  });

  const engine = (spec: object) => ({ kind: "FireboltEngine" as const, spec: { ...SMALLEST.FireboltEngine, ...spec } });
  const ofClass = (spec: object) => ({
    kind: "FireboltEngineClass" as const,
    spec: { ...SMALLEST.FireboltEngineClass, ...spec },
  });
  const instance = (spec: object) => ({
    kind: "FireboltInstance" as const,
    spec: { ...SMALLEST.FireboltInstance, ...spec },
  });
  const local = (fields: object) => instance({ auth: { local: { admin: { password: { key: "p" } }, ...fields } } });
  const certificate = (fields: object) => ({ signingKeys: { certManager: { issuerRef: { name: "ca" }, ...fields } } });
  const container = (fields: object) => ({ template: { spec: { containers: [{ name: "engine", ...fields }] } } });

  test.each<{ what: string; kind: KindName; spec: unknown; name?: string }>([
    { what: "an engine without spec", kind: "FireboltEngine", spec: undefined },
    { what: "a class without spec", kind: "FireboltEngineClass", spec: undefined },
    { what: "a disabled auto-stop policy", ...engine({ autoStop: { activeReplicas: 2 } }) },
    { what: "a negative idle timeout", ...engine({ autoStop: { activeReplicas: 1, idleTimeout: "-5m" } }) },
    {
      what: "domains that only resemble each other",
      ...instance({ gateway: { hostDomains: ["localhost", "fb.example.com", "b.example.com", "1a.2b", "a--b.x9"] } }),
    },
    {
      what: "no domain, and an unset default engine",
      ...instance({ gateway: { hostDomains: [], defaultEngine: "" } }),
    },
    { what: "a default engine that does not exist", ...instance({ gateway: { defaultEngine: "nobody-1" } }) },
    { what: "no gateway pods", ...instance({ gateway: { replicas: 0 } }) },
    { what: "negative gateway replicas", ...instance({ gateway: { replicas: -1 } }) },
    {
      what: "a port past the range",
      ...instance({ metadata: { postgres: { host: "pg", port: 99_999, database: "m", credentialsSecretRef: {} } } }),
    },
    { what: "a negative claim size", ...engine({ storage: { persistentVolumeClaim: { size: "-1Gi" } } }) },
    {
      what: "an unknown access mode",
      ...engine({ storage: { persistentVolumeClaim: { accessModes: ["Sometimes"] } } }),
    },
    { what: "an unknown hostPath type", ...engine({ storage: { hostPath: { path: "/d", type: "Nonsense" } } }) },
    { what: "rollout null", ...engine({ rollout: null }) },
    { what: "an empty metadataEndpointOverride", ...engine({ metadataEndpointOverride: "" }) },
    { what: "a template without containers", ...engine({ template: { spec: { nodeSelector: { a: "b" } } } }) },
    { what: "env FIREBOLT_ANYTHING", ...engine(container({ env: [{ name: "FIREBOLT_ANYTHING", value: "x" }] })) },
    { what: "a volume named data", ...engine({ template: { spec: { volumes: [{ name: "data", emptyDir: {} }] } } }) },
    { what: "a nodeName", ...engine({ template: { spec: { nodeName: "n1" } } }) },
    {
      what: "a bogus toleration operator",
      ...engine({ template: { spec: { tolerations: [{ operator: "Maybe" }] } } }),
    },
    { what: "a certificate of size 0", ...local(certificate({ size: 0 })) },
    { what: "renewBefore past duration", ...local(certificate({ duration: "1h", renewBefore: "2h" })) },
    { what: "a negative clock skew", ...local({ clockSkewTolerance: "-5s" }) },
    { what: "an empty duration with days", ...local({ tokenExpiry: "" }) },
    { what: "days in any order", ...local({ maxTokenAge: "12h1.5d" }) },
    {
      what: "a class over any bound",
      ...ofClass(container({ resources: { limits: { cpu: "4096", memory: "9Ei" } } })),
    },
    { what: "a dotted name", ...engine({}), name: "dotted.name" },
    { what: "a name of 200 characters", ...engine({}), name: "n".repeat(200) },
  ])("looks wrong but is not: $what", async ({ kind, spec, name = "odd" }) => {
    const verdict = await resources.create(manifest(kind, { name, namespace }, spec), { dryRun: true });
    expect(verdict).toMatchObject({ type: "accepted" });
  });

  test.each([
    "0",
    "+0",
    "-0",
    "5s",
    "+5s",
    "-5s",
    ".5s",
    "1.s",
    "1.5h",
    "1h30m",
    "30m1h",
    "1ns",
    "1us",
    "1µs",
    "1μs",
    "1ms",
    "2562047h47m16.854775807s",
    "-2562047h47m16.854775808s",
  ])("the duration %s", async (drainCheckInterval) => {
    const { kind, spec } = engine({ drainCheckInterval });
    const verdict = await resources.create(manifest(kind, { name: "timed", namespace }, spec), { dryRun: true });
    expect(verdict).toMatchObject({ type: "accepted", object: { spec: { drainCheckInterval } } });
  });
});
