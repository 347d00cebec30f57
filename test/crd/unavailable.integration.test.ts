// Features that are not available yet: the CRD rejects enabling one and names the field. The rules for enabled features
// are tested on a copy of the CRD without those rejections, so that they are correct when a feature becomes available.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { NOT_AVAILABLE } from "../../src/api/schema/availability.ts";
import { type CustomResourceApi, openCustomResourceApi } from "../harness/control-plane/custom-resource-api.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { type AnyManifest, exampleOf, type KindName, manifest, SMALLEST } from "../harness/fixtures/manifests.ts";

interface Row {
  readonly what: string;
  readonly kind?: KindName;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly field: string;
}

const CERT_MANAGER = { issuerRef: { name: "ca" } };
const LOCAL = { admin: { password: { name: "admin", key: "p" } }, signingKeys: { certManager: CERT_MANAGER } };
const local = (fields: object) => ({ auth: { enabled: true, local: { ...LOCAL, ...fields } } });
const keys = (fields: object) => local({ signingKeys: { certManager: CERT_MANAGER, ...fields } });
const provider = (name: string, usernameMapping: string) => ({
  name,
  usernameMapping,
  discoveryURL: "https://id.example.com",
});
const oidc = (...providers: readonly object[]) => ({ auth: { enabled: true, local: LOCAL, oidc: { providers } } });
const tls = (listener: "gateway" | "engine", fields: object) => ({ tls: { [listener]: { enabled: true, ...fields } } });

const AUTH = "spec.auth.enabled";
const GATEWAY = "spec.tls.gateway.enabled";
const ENGINE = "spec.tls.engine.enabled";
const ROWS: readonly Row[] = [
  { what: "metadataNG", spec: { metadataNG: true }, field: "spec.metadataNG" },
  { what: "uiSidecar", kind: "FireboltEngine", spec: { uiSidecar: true }, field: "spec.uiSidecar" },
  {
    what: "uiSidecar",
    kind: "FireboltEngineClass",
    spec: { uiSidecar: true },
    field: "spec.uiSidecar",
  },
  { what: "complete authentication", spec: local({}), field: AUTH },
  { what: "complete gateway TLS", spec: tls("gateway", { secretRef: { name: "s" } }), field: GATEWAY },
  { what: "complete engine TLS", spec: tls("engine", { certManager: CERT_MANAGER }), field: ENGINE },
  { what: "authentication without local", spec: { auth: { enabled: true } }, field: AUTH },
  {
    what: "authentication without signing keys",
    spec: { auth: { enabled: true, local: { admin: LOCAL.admin } } },
    field: AUTH,
  },
  {
    what: "an admin password without Secret",
    spec: local({ admin: { password: { key: "p" } } }),
    field: AUTH,
  },
  { what: "RS256 with an ECDSA key", spec: local({ signingAlgorithm: "RS256" }), field: AUTH },
  { what: "ES256 with size 384", spec: local({ signingAlgorithm: "ES256" }), field: AUTH },
  {
    what: "an RSA key of 3072 bits",
    spec: keys({ certManager: { ...CERT_MANAGER, algorithm: "RSA", size: 3072 } }),
    field: AUTH,
  },
  { what: "rotation alone", spec: keys({ rotationInterval: "720h" }), field: AUTH },
  { what: "retention alone", spec: keys({ retainDuration: "48h" }), field: AUTH },
  {
    what: "retention below the floor",
    spec: keys({ rotationInterval: "720h", retainDuration: "24h" }),
    field: AUTH,
  },
  { what: "a negative token age", spec: local({ maxTokenAge: "-1d" }), field: AUTH },
  {
    what: "two providers of one name",
    spec: oidc(provider("a", "{{ iss }}"), provider("a", "{{ iss }}")),
    field: AUTH,
  },
  {
    what: "two providers without iss",
    spec: oidc(provider("a", "{{ email }}"), provider("b", "x")),
    field: AUTH,
  },
  { what: "a mapping to the admin", spec: oidc(provider("a", "firebolt")), field: AUTH },
  {
    what: "an unknown preferred server",
    spec: { auth: { enabled: true, local: LOCAL, preferredAuthorizationServer: "okta" } },
    field: AUTH,
  },
  { what: "engine TLS without a source", spec: tls("engine", {}), field: ENGINE },
  {
    what: "gateway TLS with two sources",
    spec: tls("gateway", { certManager: CERT_MANAGER, secretRef: { name: "s" } }),
    field: GATEWAY,
  },
  {
    what: "gateway TLS with an empty name",
    spec: tls("gateway", { secretRef: {} }),
    field: GATEWAY,
  },
  {
    what: "a CRL without client CA",
    spec: tls("gateway", { secretRef: { name: "s" }, crlSecretRef: { name: "c" } }),
    field: GATEWAY,
  },
  {
    what: "a Secret of the operator",
    spec: tls("gateway", { secretRef: { name: "x-auth-signing" } }),
    field: GATEWAY,
  },
];

let resources: CustomResourceApi;
let namespace: string;
beforeAll(async () => {
  resources = openCustomResourceApi();
  namespace = await createNamespace("unavailable");
});
afterAll(() => resources[Symbol.dispose]());

test.each(ROWS)(
  "unbuilt-is-refused: $what is rejected as not available",
  async ({ kind = "FireboltInstance", spec, field }) => {
    const verdict = await resources.create(
      manifest(kind, { name: "refused", namespace }, { ...SMALLEST[kind], ...spec }),
    );
    expect(verdict).toMatchObject({ type: "refused", status: 422 });
    const saysSo = expect.stringMatching(new RegExp(`${NOT_AVAILABLE}: leave ${field} unset or false`));
    expect(verdict).toHaveProperty("causes", expect.arrayContaining([{ field, message: saysSo }]));
  },
);

test("the same fields are accepted while everything is off", async () => {
  const off = {
    ...SMALLEST.FireboltInstance,
    metadataNG: false,
    auth: { ...oidc(provider("a", "{{ email }}")).auth, enabled: false },
    tls: {
      gateway: { enabled: false, secretRef: { name: "s" } },
      engine: { enabled: false, certManager: CERT_MANAGER },
    },
  };
  expect(await resources.create(manifest("FireboltInstance", { name: "off", namespace }, off))).toMatchObject({
    type: "accepted",
  });
  const engine = { ...SMALLEST.FireboltEngine, uiSidecar: false };
  expect(await resources.create(manifest("FireboltEngine", { name: "off", namespace }, engine))).toMatchObject({
    type: "accepted",
  });
});

test("the engine with a web UI is rejected for that alone", async () => {
  const { spec: valid } = exampleOf("engine-auto-stop.yaml", "FireboltEngine");
  const spec: unknown = { ...Object(valid), uiSidecar: true };
  const verdict = await resources.create(manifest("FireboltEngine", { name: "reporting", namespace }, spec));
  expect(verdict).toHaveProperty("causes", [
    { field: "spec.uiSidecar", message: expect.stringContaining(`the web UI sidecar ${NOT_AVAILABLE}`) },
  ]);
});

describe("once a feature is available", () => {
  const group = "available.example.com";
  const name = `fireboltinstances.${group}`;
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  beforeAll(async () => {
    await resources.api.expect({ method: "POST", path: crds, body: copyWithoutRefusals() });
    const probe = `/apis/${group}/v1alpha1/namespaces/${namespace}/fireboltinstances`;
    await eventually(() => resources.api.expect({ path: probe }), { describe: "the copied CRD is served" });
  });
  afterAll(async () => {
    await resources.api.expect({ method: "DELETE", path: `${crds}/${name}` });
  });

  const copied = (object: string, spec: object): AnyManifest => ({
    ...manifest("FireboltInstance", { name: object, namespace }, { ...SMALLEST.FireboltInstance, ...spec }),
    apiVersion: `${group}/v1alpha1`,
  });

  async function update(from: object, to: object) {
    const stored = await resources.create(copied("changing", from), { group });
    if (stored.type !== "accepted") throw new Error(`the first version was rejected: ${stored.message}`);
    const next = copied("changing", to);
    const metadata = { ...next.metadata, resourceVersion: stored.object.metadata["resourceVersion"] };
    const verdict = await resources.replace({ ...next, metadata }, { group });
    const path = `/apis/${group}/v1alpha1/namespaces/${namespace}/fireboltinstances/changing`;
    await resources.api.expect({ method: "DELETE", path });
    return verdict;
  }

  test("local is required", async () => {
    const verdict = await resources.create(copied("refused", { auth: { enabled: true } }), { group });
    expect(verdict).toHaveProperty("causes", [
      {
        field: "spec.auth.local",
        message: expect.stringContaining("local is required when authentication is enabled"),
      },
    ]);
  });

  test("the signing algorithm cannot change", async () => {
    expect(await update(local({}), local({ signingAlgorithm: "RS256" }))).toHaveProperty("causes", [
      { field: "spec.auth.local.signingAlgorithm", message: expect.stringContaining("cannot change once it is set") },
    ]);
  });

  test("the engine issuer cannot change while TLS is on", async () => {
    const other = { issuerRef: { name: "other" } };
    expect(
      await update(tls("engine", { certManager: CERT_MANAGER }), tls("engine", { certManager: other })),
    ).toHaveProperty("causes", [
      {
        field: "spec.tls.engine.certManager.issuerRef",
        message: expect.stringContaining("issuerRef cannot change while TLS"),
      },
    ]);
  });

  test("the gateway issuer may change, and so may the engine issuer when TLS is disabled", async () => {
    const other = { certManager: { issuerRef: { name: "other" } } };
    const from = { certManager: CERT_MANAGER };
    expect(await update(tls("gateway", from), tls("gateway", other))).toMatchObject({ type: "accepted" });
    expect(await update(tls("engine", from), { tls: { engine: { enabled: false, ...other } } })).toMatchObject({
      type: "accepted",
    });
  });

  function copyWithoutRefusals(): unknown {
    const file = join(import.meta.dirname, "../../config/crd/compute.firebolt.io_fireboltinstances.yaml");
    const crd: unknown = parse(readFileSync(file, "utf8"), reviveWithoutRefusals);
    const spec: unknown = valueAt(crd, ["spec"]);
    return { ...Object(crd), metadata: { name }, spec: { ...Object(spec), group, names: copiedNames(spec) } };
  }

  const copiedNames = (spec: unknown): object => ({ ...Object(valueAt(spec, ["names"])), shortNames: [] });

  function reviveWithoutRefusals(key: unknown, value: unknown): unknown {
    if (key !== "x-kubernetes-validations" || !Array.isArray(value)) return value;
    return value.filter((rule: unknown) => !String(valueAt(rule, ["message"])).includes(NOT_AVAILABLE));
  }
});
