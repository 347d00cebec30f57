// What may and may not change in a stored object: real creates followed by real updates on the real API server.
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CustomResourceApi,
  openCustomResourceApi,
  type Verdict,
} from "../harness/control-plane/custom-resource-api.ts";
import { createNamespace } from "../harness/control-plane/requests.ts";
import { type KindName, manifest, SMALLEST } from "../harness/fixtures/manifests.ts";

interface Change {
  readonly what: string;
  readonly kind: KindName;
  /** Both are merged over the smallest valid spec. */
  readonly from: Readonly<Record<string, unknown>>;
  readonly to: Readonly<Record<string, unknown>>;
}

interface RefusedChange extends Change {
  readonly field: string;
  readonly says: RegExp;
}

const auth = (local: object) => ({
  auth: {
    local: {
      admin: { password: { name: "admin", key: "p" } },
      signingKeys: { certManager: { issuerRef: { name: "ca" } } },
      ...local,
    },
  },
});
const signingKey = (fields: object) => auth({ signingKeys: { certManager: { issuerRef: { name: "ca" }, ...fields } } });
const tls = (listener: "gateway" | "engine", issuer: string) => ({
  tls: { [listener]: { certManager: { issuerRef: { name: issuer } } } },
});

const REFUSED: readonly RefusedChange[] = [
  {
    what: "another instanceRef",
    kind: "FireboltEngine",
    from: {},
    to: { instanceRef: "other" },
    field: "spec.instanceRef",
    says: /instanceRef cannot change/,
  },
  {
    what: "another metadataEndpointOverride",
    kind: "FireboltEngine",
    from: { metadataEndpointOverride: "a:7000" },
    to: { metadataEndpointOverride: "b:7000" },
    field: "spec.metadataEndpointOverride",
    says: /metadataEndpointOverride cannot change or be removed once it is set/,
  },
  {
    what: "no metadataEndpointOverride any more",
    kind: "FireboltEngine",
    from: { metadataEndpointOverride: "a:7000" },
    to: {},
    field: "spec.metadataEndpointOverride",
    says: /metadataEndpointOverride cannot change or be removed once it is set/,
  },
  {
    what: "another signing algorithm",
    kind: "FireboltInstance",
    from: auth({}),
    to: auth({ signingAlgorithm: "ES512" }),
    field: "spec.auth.local.signingAlgorithm",
    says: /signingAlgorithm cannot change once it is set/,
  },
  {
    what: "another signing key size",
    kind: "FireboltInstance",
    from: signingKey({ size: 384 }),
    to: signingKey({ size: 521 }),
    field: "spec.auth.local.signingKeys.certManager.size",
    says: /size of the signing key cannot change once it is set/,
  },
];

const OTHER_IDS: readonly RefusedChange[] = (["01J9Z3NDEKTSV4RRFFQ69G5FAV", "", undefined] as const).map((id) => ({
  what: id === undefined ? "no id any more" : `the id ${JSON.stringify(id)}`,
  kind: "FireboltInstance",
  from: { id: "01J9Z3NDEKTSV4RRFFQ69G5FAA" },
  to: id === undefined ? {} : { id },
  field: "spec.id",
  says: /spec\.id cannot be changed or removed once it is set/,
}));

const ACCEPTED: readonly Change[] = [
  { what: "a first id", kind: "FireboltInstance", from: {}, to: { id: "any text" } },
  { what: "an id in the place of an empty one", kind: "FireboltInstance", from: { id: "" }, to: { id: "x" } },
  {
    what: "other fields beside the id",
    kind: "FireboltInstance",
    from: { id: "x" },
    to: { id: "x", gateway: { replicas: 3 } },
  },
  {
    what: "a first metadataEndpointOverride",
    kind: "FireboltEngine",
    from: {},
    to: { metadataEndpointOverride: "a:7000" },
  },
  { what: "another class", kind: "FireboltEngine", from: { engineClassRef: "a" }, to: { engineClassRef: "b" } },
  {
    what: "another storage backend",
    kind: "FireboltEngine",
    from: { storage: { emptyDir: {} } },
    to: { storage: { hostPath: { path: "/d" } } },
  },
  {
    what: "another signing issuer",
    kind: "FireboltInstance",
    from: auth({}),
    to: signingKey({ issuerRef: { name: "other", kind: "Issuer" } }),
  },
  {
    what: "a size in the place of 0",
    kind: "FireboltInstance",
    from: signingKey({ size: 0 }),
    to: signingKey({ size: 256 }),
  },
  { what: "another gateway issuer", kind: "FireboltInstance", from: tls("gateway", "a"), to: tls("gateway", "b") },
  {
    what: "another engine issuer while TLS is off",
    kind: "FireboltInstance",
    from: tls("engine", "a"),
    to: tls("engine", "b"),
  },
  {
    what: "everything",
    kind: "FireboltEngineClass",
    from: { rollout: "graceful" },
    to: { rollout: "recreate", autoStop: { activeReplicas: 1 } },
  },
];

let resources: CustomResourceApi;
let namespace: string;
let count = 0;
beforeAll(async () => {
  resources = openCustomResourceApi();
  namespace = await createNamespace("updates");
});
afterAll(() => resources[Symbol.dispose]());

async function change({ kind, from, to }: Change): Promise<Verdict> {
  count += 1;
  const identity = { name: `object-${count}`, namespace };
  const stored = await resources.create(manifest(kind, identity, { ...SMALLEST[kind], ...from }));
  if (stored.type === "refused") throw new Error(`the first version was rejected: ${stored.message}`);
  const next = manifest(kind, identity, { ...SMALLEST[kind], ...to });
  const metadata = { ...next.metadata, resourceVersion: stored.object.metadata["resourceVersion"] };
  return resources.replace({ ...next, metadata });
}

async function expectRefused({ field, says, ...update }: RefusedChange): Promise<void> {
  const verdict = await change(update);
  expect(verdict).toMatchObject({ type: "refused", status: 422 });
  expect(verdict).toHaveProperty("causes", [{ field, message: expect.stringMatching(says) }]);
}

test.each(REFUSED)("$kind cannot get $what", expectRefused);

test.each(OTHER_IDS)("id-set-once: $kind cannot get $what", expectRefused);

test.each(ACCEPTED)("$kind may get $what", async (update) => {
  expect(await change(update)).toMatchObject({ type: "accepted", object: { spec: update.to } });
});

test("engine-without-spec: an engine may lose its whole spec", async () => {
  const stored = await resources.create(
    manifest("FireboltEngine", { name: "bare", namespace }, SMALLEST.FireboltEngine),
  );
  expect(stored.type).toBe("accepted");
  if (stored.type !== "accepted") return;
  const bare = manifest("FireboltEngine", { name: "bare", namespace }, undefined);
  const metadata = { ...bare.metadata, resourceVersion: stored.object.metadata["resourceVersion"] };
  expect(await resources.replace({ ...bare, metadata })).toMatchObject({ type: "accepted" });
});
