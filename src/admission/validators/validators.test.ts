// The validators, called directly, with look-ups from a table. Integration tests show the same verdicts through a real API
// server.
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { engine, engineClass, instance } from "../../../test/harness/fixtures/manifests.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { ResourceBounds } from "../../engine/model/validate.ts";
import type { ClaimSize } from "../../instance/validate/validate-built-in.ts";
import type { JsonObject } from "../../podtemplate/shapes/shape.ts";
import type { HookId } from "../registration/hooks.ts";
import type { AdmissionRequest, Verdict } from "../review/review.ts";
import { createValidators } from "./create-validators.ts";
import type { AdmissionLookups } from "./lookups.ts";

const stored = <T>(manifest: object): T => JSON.parse(JSON.stringify(manifest)) as T;
const json = (manifest: object): JsonObject => stored<JsonObject>(manifest);
const away = (): Promise<never> => Promise.reject(new Error("connection refused"));
const never = new AbortController().signal;

function validate(
  id: HookId,
  request: Partial<AdmissionRequest>,
  { lookups = {}, bounds = {} }: { lookups?: Partial<AdmissionLookups>; bounds?: ResourceBounds } = {},
): Promise<Verdict> {
  const all: AdmissionLookups = {
    engineClass: async () => undefined,
    instance: async () => undefined,
    enginesOfClass: async () => [],
    retainedId: async () => undefined,
    claimSize: async () => undefined,
    engineExists: async () => true,
    ...lookups,
  };
  const validators = createValidators({ lookups: all, bounds, clock: systemClock, logger: silentLogger });
  const whole = {
    uid: "u",
    operation: "CREATE",
    namespace: "ns",
    name: "x",
    username: "mara",
    object: undefined,
    oldObject: undefined,
  } as const;
  return validators[id]({ ...whole, ...request }, never);
}

describe("engines", () => {
  const classed = json(engine({ name: "e", engineClassRef: "c" }));
  const large = { spec: { containers: [{ name: "engine", resources: { limits: { memory: "300Gi" } } }] } };

  test("the message names a class that does not exist", async () => {
    expect(await validate("validate-engine", { object: classed })).toMatchObject({
      type: "deny",
      code: 403,
      message: 'spec.engineClassRef: Not found: "c": no FireboltEngineClass of this name in namespace "ns"',
    });
  });

  test("a class that cannot be read denies", async () => {
    expect(await validate("validate-engine", { object: classed }, { lookups: { engineClass: away } })).toMatchObject({
      type: "deny",
      code: 500,
      message: expect.stringMatching(/^spec\.engineClassRef: Internal error: .*connection refused$/),
    });
  });

  test("bounds apply to resources that come from the class", async () => {
    const found = stored<FireboltEngineClass>(engineClass({ name: "c", template: large }));
    const verdict = await validate(
      "validate-engine",
      { object: classed },
      { lookups: { engineClass: async () => found }, bounds: { memory: "256Gi" } },
    );
    expect(verdict).toMatchObject({
      type: "deny",
      message: expect.stringMatching(
        /^spec\.template\.spec\.containers\[engine\]\.resources\.limits\[memory\]: Invalid value: "300Gi": exceeds the maximum 256Gi; inherited from FireboltEngineClass "c"/,
      ),
    });
  });

  test("the message lists all violations", async () => {
    const object = json(
      engine({ name: "Bad_Name", engineClassRef: "c", template: { spec: { hostNetwork: true, ...large.spec } } }),
    );
    const verdict = await validate("validate-engine", { object }, { bounds: { memory: "1Gi" } });
    expect(verdict.type === "deny" && verdict.violations.map(({ path }) => path)).toEqual([
      "metadata.name",
      "spec.engineClassRef",
      "spec.template.spec.hostNetwork",
      "spec.template.spec.containers[engine].resources.limits[memory]",
    ]);
  });

  test("an existing name does not deny an update", async () => {
    const object = json(engine({ name: "dotted.name" }));
    expect(await validate("validate-engine", { object })).toMatchObject({ type: "deny" });
    expect(await validate("validate-engine", { operation: "UPDATE", object, oldObject: object })).toMatchObject({
      type: "allow",
    });
  });

  test("an object that is being deleted is allowed, but not one that only claims to be", async () => {
    const object = json({
      ...engine({ name: "e", engineClassRef: "c" }),
      metadata: { name: "e", deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    expect(await validate("validate-engine", { operation: "UPDATE", object, oldObject: classed })).toEqual({
      type: "allow",
      warnings: [],
    });
    expect(await validate("validate-engine", { operation: "CREATE", object })).toMatchObject({ type: "deny" });
  });

  const withEnv = json(
    engine({
      name: "e",
      template: {
        spec: {
          containers: [
            { name: "side", env: [{ name: "P", valueFrom: { secretKeyRef: { name: "login", key: "p" } } }] },
          ],
          volumes: [{ name: "v", projected: { sources: [{ secret: { name: "keys" } }] } }],
        },
      },
    }),
  );
  const owner = stored<FireboltInstance>({
    ...instance({
      name: "lakeside",
      metadata: { postgres: { host: "pg", database: "d", credentialsSecretRef: { name: "login" } } },
    }),
    status: { auth: { signingKeys: [{ id: "1", secretName: "keys", createdAt: "2026-01-01T00:00:00Z" }] } },
  });

  test("no template reaches the instance's Secrets, by volume or variable", async () => {
    const verdict = await validate(
      "validate-engine",
      { object: withEnv },
      { lookups: { instance: async () => owner } },
    );
    expect(verdict.type === "deny" && verdict.message).toMatch(
      /^\[spec\.template\.spec\.volumes\[0\]: Forbidden: .*"keys".*, spec\.template\.spec\.containers\[0\]: Forbidden: .*"login"/,
    );
  });

  test("without a readable instance the controller decides", async () => {
    expect(await validate("validate-engine", { object: withEnv })).toMatchObject({ type: "allow" });
    expect(await validate("validate-engine", { object: withEnv }, { lookups: { instance: away } })).toMatchObject({
      type: "allow",
    });
  });

  test("a template without Secrets and an engine without class need no look-up", async () => {
    const object = json(engine({ name: "e", template: { spec: { nodeSelector: { a: "b" } } } }));
    expect(
      await validate("validate-engine", { object }, { lookups: { instance: away, engineClass: away } }),
    ).toMatchObject({ type: "allow" });
  });

  test("labels that are not strings cannot be decoded", async () => {
    const object = json(engine({ name: "e", template: { metadata: { labels: { tier: 1 } } } }));
    expect(await validate("validate-engine", { object })).toMatchObject({
      type: "deny",
      code: 400,
      message: "spec.template.metadata.labels[tier]: Invalid value: 1: must be a string",
    });
  });

  test.each([
    { value: false, warnings: [] },
    {
      value: true,
      warnings: [
        "spec.template.spec.automountServiceAccountToken: true only overrides false in the class; otherwise the service account decides",
      ],
    },
  ])("automountServiceAccountToken $value of engines and classes", async ({ value, warnings }) => {
    const template = { spec: { automountServiceAccountToken: value } };
    for (const [id, object] of [
      ["validate-engine", engine({ name: "e", template })],
      ["validate-engine-class", engineClass({ name: "c", template })],
    ] as const)
      expect(await validate(id, { object: json(object) })).toEqual({ type: "allow", warnings });
  });

  test("ignored-fields-warn: fields without effect cause warnings", async () => {
    const object = json(
      engine({
        name: "e",
        template: { spec: { nodeName: "n", priority: 0, volumes: [{ name: "data" }, { name: "mine" }] } },
      }),
    );
    expect(await validate("validate-engine", { object })).toEqual({
      type: "allow",
      warnings: [
        "spec.template.spec.nodeName is ignored",
        "spec.template.spec.priority is ignored",
        'spec.template.spec.volumes[0] is ignored: the operator mounts its own volume of the name "data"',
      ],
    });
  });
});

describe("the default engine of an instance", () => {
  const of = (defaultEngine?: string) =>
    json(instance({ name: "i", gateway: defaultEngine === undefined ? {} : { defaultEngine } }));
  const judged = (request: Partial<AdmissionRequest>, engineExists: AdmissionLookups["engineExists"]) =>
    validate("validate-instance", { name: "i", ...request }, { lookups: { engineExists } });

  test("that does not exist causes a warning, never a rejection", async () => {
    const names: string[] = [];
    const verdict = await judged({ object: of("adhoc") }, async ({ namespace, name }) => {
      names.push(`${namespace}/${name}`);
      return false;
    });
    expect(names).toEqual(["ns/adhoc"]);
    expect(verdict).toEqual({
      type: "allow",
      warnings: [
        'spec.gateway.defaultEngine: there is no FireboltEngine "adhoc" in this namespace yet; until it is created, queries that name no engine fail',
      ],
    });
  });

  test("that cannot be looked up causes a warning that says so", async () => {
    expect(await judged({ object: of("adhoc") }, away)).toEqual({
      type: "allow",
      warnings: ["spec.gateway.defaultEngine could not be looked up: Error: connection refused"],
    });
  });

  test("is looked up when it is new, and only then", async () => {
    const update = { operation: "UPDATE", object: of("b") } as const;
    expect(await judged({ ...update, oldObject: of("b") }, away)).toEqual({ type: "allow", warnings: [] });
    expect(await judged({ ...update, object: of() }, away)).toEqual({ type: "allow", warnings: [] });
    expect(await judged({ ...update, oldObject: of("a") }, async () => false)).toMatchObject({
      warnings: [expect.stringContaining('"b"')],
    });
    expect(await judged({ object: of("b") }, async () => true)).toEqual({ type: "allow", warnings: [] });
  });
});

describe("the built-in PostgreSQL of an instance", () => {
  const of = (builtInPostgres: object, more: object = {}) =>
    json(instance({ name: "i", metadata: { builtInPostgres, ...more } }));
  const create = (builtInPostgres: object, more: object = {}) =>
    validate("validate-instance", { operation: "CREATE", name: "i", object: of(builtInPostgres, more) });
  const external = { host: "db", database: "meta", credentialsSecretRef: { name: "login" } };

  test.each([
    [{}, { postgres: external }, /spec.metadata.builtInPostgres: Forbidden: cannot be set together with/],
    [{ storage: { size: "0" } }, {}, /storage.size: Invalid value: "0": must be a quantity above zero/],
    [{ imagePullSecrets: [{ name: "" }] }, {}, /imagePullSecrets\[0\].name: Required value/],
    [
      { resources: { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } } },
      {},
      /resources.requests.memory: Invalid value: "2Gi": must not be above the limit, 1Gi/,
    ],
    [
      { storage: { storageClassName: "Fast Disk" } },
      {},
      /storage.storageClassName: Invalid value: "Fast Disk": is not a valid name of a StorageClass.*kubectl get storageclass/,
    ],
    [
      { resources: { limits: { memroy: "1Gi" } } },
      {},
      /resources.limits\[memroy\]: Invalid value: "1Gi": "memroy" is not a container resource: use cpu, memory/,
    ],
  ])("%j %j is rejected", async (settings, more, message) => {
    expect(await create(settings, more)).toMatchObject({ type: "deny", message: expect.stringMatching(message) });
  });

  test("names that a container or a cluster can have are accepted", async () => {
    const names = ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu"];
    const requests = Object.fromEntries(names.map((name) => [name, "1"]));
    for (const storageClassName of ["", "gp3", "local.path-1"])
      expect(await create({ resources: { requests }, storage: { storageClassName } })).toMatchObject({ type: "allow" });
  });

  describe("a smaller size is compared with the claim, not with the size requested before", () => {
    const shrink = (claimSize: () => Promise<ClaimSize | undefined>, wanted = "5Gi") => {
      const oldObject = { ...of({ storage: { size: "20Gi" } }), status: { builtInPostgres: { claimUID: "u" } } };
      const object = of({ storage: { size: wanted } });
      return validate(
        "validate-instance",
        { operation: "UPDATE", name: "i", object, oldObject },
        { lookups: { claimSize } },
      );
    };

    test.each([
      [
        "has more",
        "10Gi",
        { type: "deny", message: expect.stringMatching(/cannot shrink: .*data-x has 10Gi; set that/) },
      ],
      ["never grew", "5Gi", { type: "allow", warnings: [] }],
      ["is smaller still", "1Gi", { type: "allow", warnings: [] }],
      ["has it, rounded by the API server", "5368709120001m", { type: "allow", warnings: [] }, "5.0000000000001Gi"],
    ])("a claim that %s", async (_, size, verdict, wanted?: string) => {
      expect(await shrink(async () => ({ name: "data-x", size }), wanted)).toMatchObject(verdict);
    });

    test("no claim, or none that can be read: the controller decides, and a warning says so", async () => {
      expect(await shrink(async () => undefined)).toMatchObject({ type: "allow", warnings: [] });
      expect(await shrink(away)).toMatchObject({
        type: "allow",
        warnings: [expect.stringMatching(/storage\.size could not be compared with the claim/)],
      });
    });
  });

  test("a consent that names no loss causes a warning", async () => {
    const { metadata, ...rest } = of({});
    const withConsent = (value: string) => ({
      ...rest,
      metadata: { ...(metadata as object), annotations: { "firebolt.io/accept-empty-catalogue": value } },
    });
    const warningsOf = (value: string) =>
      validate("validate-instance", { operation: "CREATE", name: "i", object: withConsent(value) });
    expect(await warningsOf("true")).toMatchObject({ warnings: [expect.stringContaining('"true" has no effect')] });
    expect(await warningsOf("lost-1")).toMatchObject({ warnings: [] });
  });

  test.each([
    [
      { storage: { storageClassName: "a" } },
      { storage: { storageClassName: "b" } },
      /storageClassName: Invalid value: "b": cannot change from "a" once the volume exists/,
    ],
  ])("from %j to %j is rejected once the volume exists, and only then", async (before, after, message) => {
    const update = (status: object) =>
      validate("validate-instance", {
        operation: "UPDATE",
        name: "i",
        object: of(after),
        oldObject: { ...of(before), status },
      });
    expect(await update({ builtInPostgres: { claimUID: "u" } })).toMatchObject({
      type: "deny",
      message: expect.stringMatching(message),
    });
    expect(await update({})).toMatchObject({ type: "allow" });
  });

  test("a new instance gets the id of the volume that it reuses, and none while that is unknown", async () => {
    const request = { operation: "CREATE", name: "i", object: of({}) } as const;
    const patchOf = (retainedId: () => Promise<string | undefined>) =>
      validate("mutate-instance", request, { lookups: { retainedId } });
    expect(await patchOf(async () => "01OLD")).toMatchObject({ patch: [{ path: "/spec/id", value: "01OLD" }] });
    const unknown = await patchOf(away);
    expect(unknown).toMatchObject({
      type: "allow",
      warnings: [expect.stringContaining("the controller sets spec.id")],
    });
    expect(unknown).not.toHaveProperty("patch");
  });
});

describe("classes", () => {
  const deletion = { operation: "DELETE", name: "c", oldObject: json(engineClass({ name: "c" })) } as const;

  test("a class that engines name is not deleted, and the message lists them", async () => {
    const names = ["a", "b"];
    expect(
      await validate("validate-engine-class", deletion, { lookups: { enginesOfClass: async () => names } }),
    ).toMatchObject({
      type: "deny",
      code: 403,
      message:
        'metadata.name: Forbidden: FireboltEngineClass "c" in namespace "ns" is still referenced by 2 engines (a, b): clear spec.engineClassRef there first, or delete them',
    });
  });

  test("a long list is cut, the count is complete", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `e${index}`);
    const verdict = await validate("validate-engine-class", deletion, {
      lookups: { enginesOfClass: async () => names },
    });
    expect(verdict.type === "deny" && verdict.message).toMatch(/12 engines \(e0, .*e9, and 2 more\)/);
  });

  test("when the list fails the deletion is denied", async () => {
    expect(await validate("validate-engine-class", deletion, { lookups: { enginesOfClass: away } })).toMatchObject({
      type: "deny",
      code: 500,
    });
    expect(await validate("validate-engine-class", { ...deletion, name: "" })).toMatchObject({
      type: "deny",
      code: 400,
    });
  });

  test("a class that no engine names is deleted", async () => {
    expect(await validate("validate-engine-class", deletion)).toEqual({ type: "allow", warnings: [] });
  });

  test("a class with a broken template can be deleted, but not written", async () => {
    const broken = engineClass({ name: "c", template: { spec: { hostPID: true } } });
    expect(await validate("validate-engine-class", { object: json(broken) })).toMatchObject({ type: "deny" });
    const leaving = json({ ...broken, metadata: { name: "c", deletionTimestamp: "2026-01-01T00:00:00Z" } });
    expect(
      await validate("validate-engine-class", { operation: "UPDATE", object: leaving, oldObject: leaving }),
    ).toMatchObject({ type: "allow" });
  });
});

describe("instances", () => {
  const ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

  test.each([
    { name: "no id", object: instance({ name: "i" }) },
    { name: "an empty id", object: instance({ name: "i", id: "" }) },
  ])("patch-only-the-id: $name: exactly the id is filled in", async ({ object }) => {
    expect(await validate("mutate-instance", { object: json(object) })).toEqual({
      type: "allow",
      warnings: [],
      patch: [{ op: "add", path: "/spec/id", value: expect.stringMatching(ID) }],
    });
  });

  test.each([
    { name: "an id of one's own", object: json(instance({ name: "i", id: "mine" })) },
    { name: "no spec", object: json({ metadata: { name: "i" } }) },
    { name: "a spec that is not an object", object: json({ metadata: { name: "i" }, spec: [] }) },
  ])("$name: nothing is touched", async ({ object }) => {
    expect(await validate("mutate-instance", { object })).toEqual({ type: "allow", warnings: [] });
  });

  test("two instances never get the same id, and later ones sort later", async () => {
    const ids = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const verdict = await validate("mutate-instance", { object: json(instance({ name: "i" })) });
        return verdict.type === "allow" ? String(verdict.patch?.[0]?.value) : "";
      }),
    );
    expect(new Set(ids).size).toBe(200);
  });

  test("both templates and PostgreSQL are validated in the order of the contract", async () => {
    const object = json(
      instance({
        name: "i",
        metadata: {
          template: { spec: { hostPID: true } },
          postgres: { host: "pg", database: "d", credentialsSecretRef: {} },
        },
        gateway: { template: { spec: { hostIPC: true } } },
      }),
    );
    const verdict = await validate("validate-instance", { object });
    expect(verdict.type === "deny" && verdict.violations.map(({ path }) => path)).toEqual([
      "spec.metadata.template.spec.hostPID",
      "spec.gateway.template.spec.hostIPC",
      "spec.metadata.postgres.credentialsSecretRef.name",
    ]);
  });

  test("fields for engine pods only cause warnings on both components", async () => {
    const object = json(
      instance({ name: "i", gateway: { template: { spec: { dnsPolicy: "Default", volumes: [{ name: "tmp" }] } } } }),
    );
    expect(await validate("validate-instance", { object })).toMatchObject({
      type: "allow",
      warnings: ["spec.gateway.template.spec.dnsPolicy is ignored", expect.stringContaining('"tmp"')],
    });
  });
});
