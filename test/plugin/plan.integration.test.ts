// `plan` against what really happens: every change is planned, then applied with the real kubectl, and the operator's
// next generation (or its absence, or the rejection) must match the plan. And a rollout as `rollout status` and
// `status` show it.
import { execFileSync, spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { pods } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { NAMESPACE, type PluginCluster, startPluginCluster } from "./support/plugin-cluster.ts";

interface Plan {
  readonly plan: readonly {
    readonly name: string;
    readonly effect: {
      readonly type: string;
      readonly fields?: readonly { readonly path: string }[];
      readonly settings?: readonly string[];
      readonly problems?: readonly string[];
    };
    readonly consequences: readonly { readonly name: string; readonly effect: { readonly type: string } }[];
  }[];
}

let cluster: PluginCluster;

beforeAll(async () => {
  cluster = await startPluginCluster();
  apply(
    object("FireboltInstance", "lakeside", { metadata: {}, gateway: {} }),
    object("FireboltEngineClass", "base", CLASS),
    object("FireboltEngine", "plain", ENGINE),
    object("FireboltEngine", "classy", { ...ENGINE, engineClassRef: "base" }),
  );
  await Promise.all([cluster.rested("plain"), cluster.rested("classy")]);
}, 300_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

const ENGINE = { instanceRef: "lakeside", replicas: 1 };
const CLASS = { template: { spec: { containers: [{ name: "engine", resources: { requests: { cpu: "1" } } }] } } };
const container = (fields: object) => ({ template: { spec: { containers: [{ name: "engine", ...fields }] } } });

function object(kind: string, name: string, spec: object): object {
  return { apiVersion: "compute.firebolt.io/v1alpha1", kind, metadata: { name, namespace: NAMESPACE }, spec };
}

const text = (objects: readonly object[]): string => objects.map((one) => stringify(one)).join("---\n");

function apply(...objects: readonly object[]): void {
  execFileSync(cluster.kubectl, [`--kubeconfig=${cluster.controlPlane.adminKubeconfig}`, "apply", "-f", "-"], {
    input: text(objects),
  });
}

async function plan(
  objects: readonly object[],
  ...args: readonly string[]
): Promise<{ code: number | null; plan: Plan["plan"] }> {
  const result = await cluster.plugin(["plan", "-f", "-", "-o", "json", ...args], { stdin: text(objects) });
  expect(result.stderr).toBe("");
  return { code: result.code, plan: (JSON.parse(result.stdout) as Plan).plan };
}

const engineOf = (name: string) => cluster.client.get(FireboltEngine, { namespace: NAMESPACE, name });
const generationOf = async (name: string): Promise<number> => (await engineOf(name)).status?.currentGeneration ?? -1;

describe("what rolls and what does not", () => {
  const image = "example.com/engine:1";
  const with1Gi = container({ image, resources: { limits: { memory: "1Gi" } } });
  const secret = { customEngineConfig: { storage: { key: "top-secret" } } };
  test.each<{
    name: string;
    from?: object;
    to: object;
    rolls: boolean;
    paths?: readonly string[];
    settings?: readonly string[];
  }>([
    { name: "the same again", to: {}, rolls: false },
    { name: "an image", to: container({ image }), rolls: true, paths: ["spec.template.spec.containers[0].image"] },
    {
      name: "the default, written down",
      from: container({ image }),
      to: container({ image, imagePullPolicy: "IfNotPresent", terminationMessagePolicy: "File" }),
      rolls: false,
    },
    {
      name: "resources",
      from: container({ image }),
      to: with1Gi,
      rolls: true,
      paths: ["spec.template.spec.containers[0].resources"],
    },
    {
      name: "1Gi as 1024Mi",
      from: with1Gi,
      to: container({ image, resources: { limits: { memory: "1024Mi" } } }),
      rolls: false,
    },
    {
      name: "how it rolls",
      to: { rollout: "recreate", drainCheckInterval: "7s" },
      rolls: false,
      settings: ["rollout: graceful → recreate", "drainCheckInterval: 5000 ms → 7000 ms"],
    },
    { name: "its configuration", to: secret, rolls: true, paths: ["spec.customEngineConfig.storage.key"] },
    {
      name: "what the operator owns of its configuration",
      from: secret,
      to: { customEngineConfig: { ...secret.customEngineConfig, engine: { id: "x" } } },
      rolls: false,
    },
    {
      name: "a variable",
      to: container({ env: [{ name: "A", value: "top-secret" }] }),
      rolls: true,
      paths: ["spec.template.spec.containers[0].env[2]"],
    },
    { name: "nodes", to: { replicas: 2 }, rolls: true, paths: ["spec.replicas"] },
    { name: "a stop", to: { replicas: 0 }, rolls: true, paths: ["spec.replicas"] },
    {
      name: "a class",
      to: { engineClassRef: "base" },
      rolls: true,
      paths: ["spec.template.spec.containers[0].resources"],
    },
    {
      name: "no class any more",
      from: { engineClassRef: "base" },
      to: {},
      rolls: true,
      paths: ["spec.template.spec.containers[0].resources"],
    },
    {
      name: "a sidecar",
      to: { template: { spec: { containers: [{ name: "side", image: "example.com/side:1" }] } } },
      rolls: true,
      paths: ["spec.template.spec.containers[1]"],
    },
  ])("$name", async ({ from = {}, to, rolls, paths, settings }) => {
    apply(object("FireboltEngine", "plain", { ...ENGINE, ...from }));
    await cluster.rested("plain");
    const before = await generationOf("plain");
    const manifest = object("FireboltEngine", "plain", { ...ENGINE, ...to });
    const { code, plan: planned } = await plan([manifest], "--detailed-exit-code");
    const [only] = planned;
    expect(only?.effect.type === "rolls", JSON.stringify(only)).toBe(rolls);
    expect(code).toBe(rolls ? 10 : 0);
    if (paths !== undefined) expect(only?.effect.fields?.map(({ path }) => path)).toEqual(paths);
    if (settings !== undefined) expect(only?.effect.settings).toEqual(settings);
    expect(JSON.stringify(planned)).not.toContain("top-secret");
    expect(await generationOf("plain")).toBe(before);
    apply(manifest);
    await cluster.rested("plain");
    expect(await generationOf("plain")).toBe(before + (rolls ? 1 : 0));
  });

  test("a class rolls its engines and no others", async () => {
    const [plain, classy] = [await generationOf("plain"), await generationOf("classy")];
    const manifest = object("FireboltEngineClass", "base", {
      template: { spec: { nodeSelector: { "kubernetes.io/os": "linux" }, ...CLASS.template.spec } },
    });
    const { plan: planned } = await plan([manifest]);
    expect(planned).toMatchObject([{ name: "base", consequences: [{ name: "classy", effect: { type: "rolls" } }] }]);
    apply(manifest);
    await eventually(async () => expect(await generationOf("classy")).toBe(classy + 1));
    await cluster.rested("classy");
    expect(await generationOf("plain")).toBe(plain);
  });

  test("the last line counts engines: each that rolls, and each once", async () => {
    apply(object("FireboltEngine", "classy-too", { ...ENGINE, engineClassRef: "base" }));
    await cluster.rested("classy-too");
    const base = object("FireboltEngineClass", "base", {
      template: { spec: { tolerations: [{ key: "example.com/two", operator: "Exists" }], ...CLASS.template.spec } },
    });
    const lastLine = async (...objects: readonly object[]): Promise<string | undefined> =>
      (await cluster.plugin(["plan", "-f", "-"], { stdin: text(objects) })).stdout.trimEnd().split("\n").at(-1);
    expect(await lastLine(base)).toBe("Plan: 2 rolling. Nothing has been written.");
    // The file holds one of them as well, and another one.
    const again = object("FireboltEngine", "classy", { ...ENGINE, engineClassRef: "base", rollout: "recreate" });
    const plain = object("FireboltEngine", "plain", { ...ENGINE, ...container({ image: "example.com/engine:count" }) });
    expect(await lastLine(base, again, plain)).toBe("Plan: 3 rolling. Nothing has been written.");
    const before = await Promise.all(["classy", "classy-too"].map(generationOf));
    apply(base);
    await eventually(async () =>
      expect(await Promise.all(["classy", "classy-too"].map(generationOf))).toEqual(before.map((one) => one + 1)),
    );
    await Promise.all([cluster.rested("classy"), cluster.rested("classy-too")]);
  });

  test("an instance: which engines it reaches", async () => {
    const env = [{ name: "P", valueFrom: { secretKeyRef: { name: "database-of-ours", key: "password" } } }];
    apply(object("FireboltEngine", "reader", { ...ENGINE, replicas: 0, ...container({ env }) }));
    await cluster.rested("reader");
    const manifest = object("FireboltInstance", "lakeside", {
      metadata: {
        postgres: { host: "db.example.com", database: "catalogue", credentialsSecretRef: { name: "database-of-ours" } },
      },
      gateway: {},
    });
    const { code, plan: planned } = await plan([manifest]);
    expect(planned).toMatchObject([
      { name: "lakeside", consequences: [{ name: "reader", effect: { type: "refused" } }] },
    ]);
    expect(code).toBe(4);
    await cluster.plugin(["engine", "delete", "reader"]);
    expect((await plan([manifest])).plan).toMatchObject([{ name: "lakeside", consequences: [] }]);
  });

  test("an instance: which pods are replaced", async () => {
    const manifest = object("FireboltInstance", "lakeside", { metadata: {}, gateway: { replicas: 3 } });
    const more = await plan([manifest]);
    expect(more.plan).toMatchObject([{ effect: { type: "live", settings: ["objects of gateway"] } }]);
    const moved = object("FireboltInstance", "lakeside", {
      metadata: {},
      gateway: { replicas: 3, template: { spec: { nodeSelector: { "kubernetes.io/os": "linux" } } } },
    });
    expect((await plan([moved])).plan).toMatchObject([{ effect: { type: "rolls", what: "gateway" } }]);
    const hashes = async () =>
      (await cluster.client.list(pods, { namespace: NAMESPACE, labelSelector: "firebolt.io/component" })).items
        .map(({ metadata }) => metadata?.labels?.["pod-template-hash"] ?? "")
        .sort();
    await eventually(async () => expect(await hashes()).toHaveLength(4));
    const before = [...new Set(await hashes())];
    apply(manifest);
    await eventually(async () => expect(await hashes()).toHaveLength(5));
    expect([...new Set(await hashes())]).toEqual(before);
    apply(moved);
    await eventually(async () => expect([...new Set(await hashes())]).not.toEqual(before));
  });
});

describe("what is rejected or waits", () => {
  test.each<{ name: string; spec: object; problem: RegExp; byKubectl: boolean }>([
    {
      name: "by the schema",
      spec: { ...ENGINE, replicas: -1 },
      problem: /^spec\.replicas: .*greater than or equal to 0/,
      byKubectl: true,
    },
    {
      name: "by an unknown field",
      spec: { ...ENGINE, replicsa: 1 },
      problem: /^spec\.replicsa: unknown field$/,
      byKubectl: true,
    },
    {
      name: "by a rule of the definition",
      spec: { ...ENGINE, instanceRef: "other" },
      problem: /instanceRef cannot change/,
      byKubectl: true,
    },
    {
      name: "by the operator",
      spec: { ...ENGINE, template: { spec: { hostNetwork: true } } },
      problem: /^spec\.template\.spec\.hostNetwork: Forbidden/,
      byKubectl: false,
    },
  ])("$name", async ({ spec, problem, byKubectl }) => {
    const before = await engineOf("plain");
    const manifest = object("FireboltEngine", "plain", spec);
    const { code, plan: planned } = await plan([manifest]);
    expect(code).toBe(4);
    expect(planned).toMatchObject([{ effect: { type: "refused", problems: [expect.stringMatching(problem)] } }]);
    const args = [`--kubeconfig=${cluster.controlPlane.adminKubeconfig}`, "apply", "-f", "-"];
    const applied = spawnSync(cluster.kubectl, args, { input: text([manifest]), encoding: "utf8" });
    expect(applied.status === 0, applied.stderr).toBe(!byKubectl);
    if (byKubectl) return;
    // Stored, because no webhook rejects it here; then the operator reports what the plan showed.
    await eventually(async () => {
      const { status } = await engineOf("plain");
      expect(status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
        reason: "TemplateRejected",
        message: expect.stringMatching(problem),
      });
      expect(status?.currentGeneration).toBe(before.status?.currentGeneration);
    });
    apply(object("FireboltEngine", "plain", ENGINE));
    await cluster.rested("plain");
  });

  test("bounds of the operator, when they are passed", async () => {
    const manifest = object("FireboltEngine", "new", {
      ...ENGINE,
      ...container({ resources: { limits: { memory: "64Gi" } } }),
    });
    expect((await plan([manifest])).plan).toMatchObject([{ effect: { type: "creates" } }]);
    expect((await plan([manifest], "--engine-max-memory=32Gi")).plan).toMatchObject([
      { effect: { type: "refused", by: "operator" } },
    ]);
  });

  test("a new engine waits for a new instance of the same file, and nothing has been made", async () => {
    const { code, plan: planned } = await plan([
      object("FireboltEngine", "fresh-engine", { ...ENGINE, instanceRef: "fresh" }),
      object("FireboltInstance", "fresh", { metadata: {}, gateway: {} }),
    ]);
    expect(code).toBe(0);
    expect(planned).toMatchObject([
      { name: "fresh", effect: { type: "creates" } },
      { name: "fresh-engine", effect: { type: "waits", reason: "InstanceNotReady" } },
    ]);
    expect(await cluster.client.find(FireboltInstance, { namespace: NAMESPACE, name: "fresh" })).toBeUndefined();
    expect(await cluster.client.find(FireboltEngine, { namespace: NAMESPACE, name: "fresh-engine" })).toBeUndefined();
  });
});

describe("secrets in every kind of field", () => {
  const SECRET = "hunter2-planted";
  let planted = 0;
  const secret = (): string => `${SECRET}-${planted++}`;
  const exec = { exec: { command: ["sh", "-c", secret()] } };
  const http = {
    httpGet: { path: `/${secret()}`, port: 80, httpHeaders: [{ name: "Authorization", value: secret() }] },
  };
  const side = {
    name: "side",
    image: "example.com/side:1",
    command: ["side", `--password=${secret()}`],
    args: ["--token", secret()],
    env: [{ name: "A", value: secret() }],
    livenessProbe: http,
    lifecycle: { preStop: exec },
    workingDir: `/${secret()}`,
  };
  const full = (): object => ({
    ...ENGINE,
    replicas: 0,
    customEngineConfig: { storage: { key: secret(), list: [secret()] } },
    template: {
      metadata: { annotations: { "example.com/password": secret() } },
      spec: {
        containers: [
          {
            name: "engine",
            env: [{ name: "PASSWORD", value: secret() }],
            lifecycle: { postStart: exec, preStop: http },
            workingDir: `/${secret()}`,
          },
          side,
        ],
        initContainers: [{ ...side, name: "init", livenessProbe: undefined, lifecycle: undefined }],
        hostAliases: [{ ip: "10.0.0.1", hostnames: [secret()] }],
        volumes: [{ name: "v", csi: { driver: "d.example.com", volumeAttributes: { token: secret() } } }],
      },
    },
  });

  beforeAll(async () => {
    apply(object("FireboltEngine", "secretive", full()));
    await cluster.rested("secretive");
  });

  const rolout = { rolout: "recreate" };
  test.each<{ name: string; spec: () => object; code: number; says: RegExp }>([
    { name: "a misspelt field", spec: () => ({ ...full(), ...rolout }), code: 4, says: /spec\.rolout: unknown field/ },
    { name: "a change of all of them", spec: full, code: 0, says: /rolls: generation 0 → 1/ },
    {
      name: "none of them any more",
      spec: () => ({ ...ENGINE, replicas: 0 }),
      code: 0,
      says: /rolls: generation 0 → 1/,
    },
    {
      name: "a secret where a list belongs",
      spec: () => ({ ...ENGINE, template: { spec: { containers: { env: secret() } } } }),
      code: 4,
      says: /✗ spec\.template\.spec\.containers/,
    },
    {
      name: "a secret where a duration belongs",
      spec: () => ({ ...ENGINE, drainCheckInterval: secret() }),
      code: 4,
      says: /spec\.drainCheckInterval: /,
    },
    {
      name: "a secret where one of a few words belongs",
      spec: () => ({ ...ENGINE, rollout: secret() }),
      code: 4,
      says: /spec\.rollout: Unsupported value/,
    },
    {
      name: "a variable that the operator owns",
      spec: () => ({ ...ENGINE, ...container({ env: [{ name: "POD_INDEX", value: secret() }], args: [secret()] }) }),
      code: 4,
      says: /rejected by the operator/,
    },
  ])("$name", async ({ spec, code, says }) => {
    for (const name of ["secretive", "secretive-new"])
      for (const flags of [[], ["--server-side"], ["-o", "json"]]) {
        const manifest = object("FireboltEngine", name, spec());
        const result = await cluster.plugin(["plan", "-f", "-", ...flags], { stdin: text([manifest]) });
        const shown = `${result.stdout}${result.stderr}`;
        expect(shown, [name, ...flags].join(" ")).not.toContain(SECRET);
        expect(shown).not.toContain("<nil>");
        expect(result.code, shown).toBe(code);
        if (flags.length === 0 && name === "secretive") expect(shown).toMatch(says);
      }
  });
});

test("a rollout with running queries: status, rollout status and the plan meanwhile", async () => {
  apply(object("FireboltEngine", "plain", { ...ENGINE, replicas: 2, drainCheckInterval: "1s" }));
  await cluster.rested("plain");
  const old = await generationOf("plain");
  const { items } = await cluster.client.list(pods, {
    namespace: NAMESPACE,
    labelSelector: `firebolt.io/engine=plain,firebolt.io/generation=${old}`,
  });
  const busy = { queries: 3 };
  for (const pod of items)
    cluster.metrics.answer(pod.status?.podIP ?? "", () =>
      pod.metadata?.name?.endsWith("-0") ? { running: busy.queries } : {},
    );
  await using watching = cluster.start(["rollout", "status", "plain", "--watch", "--timeout", "60s"]);
  await eventually(() => expect(watching.stdout()).toContain("plain: stable: generation"));
  const done = await watching.exit;
  expect(done.code).toBe(0);

  const changed = object("FireboltEngine", "plain", {
    ...ENGINE,
    replicas: 2,
    drainCheckInterval: "1s",
    ...container({ image: "example.com/engine:9" }),
  });
  apply(changed);
  await eventually(async () => {
    const { status } = await engineOf("plain");
    expect(status?.phase).toBe("draining");
    // The first drain check has been made and reported.
    expect(JSON.stringify(status?.conditions)).toContain("still runs queries");
  });
  const shown = await cluster.plugin(["status"]);
  expect(shown.stdout).toContain(`waits: 3 queries run on 1 of 2 pods of generation ${old}`);
  expect(shown.stdout).toMatch(new RegExp(`g${old} +draining +2/2 .*3 queries run`));
  expect(shown.stdout).toMatch(new RegExp(`plain-g${old}-0 +Running .*3 queries`));
  const once = await cluster.plugin(["rollout", "status", "plain"]);
  expect(once).toMatchObject({
    code: 5,
    stdout: `plain: draining: 3 queries run on 1 of 2 pods of generation ${old}\n`,
  });
  const json = JSON.parse((await cluster.plugin(["rollout", "status", "plain", "-o", "json"])).stdout) as {
    share: number;
  };
  expect(json).toMatchObject({ done: false, phase: "draining", waits: { reason: "Draining" } });
  expect(json.share).toBeCloseTo(0.8);
  const { plan: meanwhile } = await plan([object("FireboltEngine", "plain", { ...ENGINE, replicas: 3 })]);
  expect(meanwhile).toMatchObject([
    { effect: { type: "rolls", what: `generation ${old + 1} → ${old + 2}, after the current rollout completes` } },
  ]);

  await using bar = cluster.start(["rollout", "status", "plain", "--watch"], { terminal: true });
  await using colourless = cluster.start(["rollout", "status", "plain", "--watch"], {
    terminal: true,
    env: { NO_COLOR: "1" },
  });
  await using tree = cluster.start(["status", "--watch"], { terminal: true });
  for (const one of [bar, colourless]) await eventually(() => expect(one.stdout()).toMatch(/█+.*░+.* {2}80%/s));
  await eventually(() => expect(tree.stdout()).toContain("3 queries run on 1 of 2 pods"));
  expect(bar.stdout()).toContain("\u001b[36m█");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what must not be there.
  expect(colourless.stdout()).not.toMatch(/\u001b\[\d+m/);
  busy.queries = 0;
  expect((await bar.exit).stdout).toContain("100%");
  expect((await bar.exit).code).toBe(0);
  await eventually(() => expect(tree.stdout()).toContain("A\u001b[G\u001b[J"));
  await cluster.rested("plain");
  expect((await cluster.plugin(["rollout", "status", "plain"])).code).toBe(0);
});

test("what cannot be scheduled is explained, with the next step", async () => {
  apply(object("FireboltEngine", "stuck", { ...ENGINE, template: { spec: { nodeSelector: { nowhere: "here" } } } }));
  await eventually(async () => {
    const { stdout } = await cluster.plugin(["engine", "status", "stuck"]);
    expect(stdout).toMatch(
      /waits: generation 0 starts: 0 of 1 pods ready; pod stuck-g0-0: cannot be scheduled: node\(s\) didn't match/,
    );
    expect(stdout).toMatch(/next: {2}correct nodeSelector or affinity/);
  });
  expect((await cluster.plugin(["rollout", "status", "stuck", "--watch", "--timeout", "1s"])).code).toBe(5);
  await cluster.plugin(["engine", "delete", "stuck"]);
});
