// How the plugin explains engines and instances that are not in their desired state, and the progress of a rollout.
import { describe, expect, test } from "vitest";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import { rolloutProgress } from "../rollout/progress.ts";
import { viewEngine } from "./engine-view.ts";
import { type EngineFacts, explainEngine, explainInstance } from "./explain.ts";
import type { ObservedPlatform, PodQueries } from "./observe-platform.ts";
import { podProblem } from "./pod-problem.ts";

const condition = (type: string, status: "True" | "False", reason: string, message = "") => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

function engine(
  status: Partial<NonNullable<FireboltEngine["status"]>> | undefined,
  metadata: object = {},
): FireboltEngine {
  const whole = status === undefined ? {} : { status: { currentGeneration: 1, activeGeneration: 0, ...status } };
  return {
    metadata: { name: "e", namespace: "ns", generation: 2, ...metadata },
    spec: { instanceRef: "i", replicas: 2, storage: {} },
    ...whole,
  };
}

const pod = (name: string, generation: number, ready: boolean): V1Pod => ({
  metadata: {
    name,
    namespace: "ns",
    labels: { "firebolt.io/engine": "e", "firebolt.io/generation": String(generation) },
  },
  spec: { containers: [] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
});

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");
const explain = (one: FireboltEngine, pods: readonly V1Pod[] = [], instance: EngineFacts["instance"] = "found") =>
  explainEngine({ engine: one, generations: [], pods, instance, nowMs: NOW_MS });
const explainOf = (instance: FireboltInstance, pods: readonly V1Pod[]) =>
  explainInstance({ instance, pods, nowMs: NOW_MS });

describe("engines", () => {
  test("an engine at rest in its desired state needs no explanation", () => {
    expect(
      explain(
        engine({ phase: "stable", observedGeneration: 2, conditions: [condition("Ready", "True", "EngineReady")] }),
      ),
    ).toBeUndefined();
    expect(
      explain(
        engine({ phase: "stopped", observedGeneration: 2, conditions: [condition("Ready", "False", "Stopped")] }),
      ),
    ).toBeUndefined();
  });

  test.each([
    ["not yet reconciled", undefined, /not reconciled it yet/, /operator runs/],
    [
      "instance",
      [condition("Ready", "False", "InstanceNotReady", "no id yet")],
      /no id yet/,
      /instance status i -n ns/,
    ],
    ["template", [condition("Ready", "False", "TemplateRejected", "spec.x")], /spec\.x/, /correct the field/],
    ["name", [condition("Ready", "False", "NameRejected", "too long")], /too long/, /another name/],
    ["policy", [condition("Ready", "False", "ObjectRejected", "denied")], /denied/, /field, policy or object named/],
    [
      "quota",
      [condition("Ready", "False", "FailedCreate", 'pods "e-g0-0" is forbidden: exceeded quota: small')],
      /exceeded quota/,
      /kubectl describe resourcequota -n ns/,
    ],
    [
      "limit range",
      [condition("Ready", "False", "FailedCreate", "maximum cpu usage per Container is 1, but limit is 4")],
      /maximum cpu/,
      /kubectl describe limitrange -n ns/,
    ],
    [
      "permissions of the operator",
      [
        condition(
          "Ready",
          "False",
          "ReconcileFailed",
          'statefulsets.apps is forbidden: User "op" cannot create resource',
        ),
      ],
      /cannot create/,
      /grant the operator the permission/,
    ],
    ["name taken", [condition("Ready", "False", "NameInUse", "ConfigMap a/b")], /ConfigMap a\/b/, /delete or rename/],
    [
      "drain, forbidden",
      [condition("Ready", "False", "DrainCheckFailing", "403 Forbidden")],
      /403/,
      /apiserverProxyGrant/,
    ],
    [
      "drain, silent",
      [condition("Ready", "False", "DrainCheckFailing", "no answer")],
      /no answer/,
      /^if the check is forbidden, allow the operator to get pods\/proxy .*; otherwise make the pod respond on port 9090 again, or delete the pod$/,
    ],
    [
      "a warning of the StatefulSet",
      [condition("Ready", "False", "SomethingNew", "odd")],
      /odd/,
      /engine status e -n ns/,
    ],
  ])("%s", (name, conditions, why, next) => {
    const isForbidden = name === "drain, forbidden" ? { drainCheckForbidden: true } : {};
    const found = explain(
      engine(conditions === undefined ? undefined : { phase: "stable", conditions, ...isForbidden }),
    );
    expect(found?.why).toMatch(why);
    if (next === undefined) expect(found?.next).toBeUndefined();
    else expect(found?.next).toMatch(next);
  });

  test.each([
    ["found", /^see what it waits for: kubectl firebolt instance status i -n ns$/],
    ["unknown", /^see what it waits for, or create it if it does not exist: kubectl firebolt instance status i -n ns$/],
    [
      "missing",
      /^create it, or delete the engine and create it again with the right spec.instanceRef.*kubectl firebolt instance list -n ns/,
    ],
  ] as const)("the next step for an instance that is %s", (instance, next) => {
    const conditions = [condition("Ready", "False", "InstanceNotReady", "no endpoint")];
    expect(explain(engine({ phase: "stable", conditions }), [], instance)?.next).toMatch(next);
  });

  test("an edit that has not been reconciled yet", () => {
    const ready = condition("Ready", "True", "EngineReady");
    expect(explain(engine({ phase: "stable", observedGeneration: 1, conditions: [ready] }))?.reason).toBe(
      "SpecChanged",
    );
  });

  test("deletion names what holds it", () => {
    const leaving = engine(
      { phase: "stable" },
      { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/cleanup"] },
    );
    expect(explain(leaving)).toMatchObject({ reason: "Deleting", why: expect.stringContaining("x/cleanup") });
  });
});

describe("pods", () => {
  const waiting = (reason: string, message?: string): V1Pod => ({
    ...pod("p", 0, false),
    status: {
      phase: "Pending",
      containerStatuses: [
        {
          name: "engine",
          image: "",
          imageID: "",
          ready: false,
          restartCount: 3,
          state: { waiting: { reason, ...(message && { message }) } },
          lastState: { terminated: { exitCode: 1, message: "io_uring_register_buffers failed" } },
        },
      ],
    },
  });

  const starting: V1Pod = {
    ...pod("p", 0, false),
    status: {
      phase: "Pending",
      containerStatuses: [
        {
          name: "engine",
          image: "",
          imageID: "",
          ready: false,
          restartCount: 0,
          state: { waiting: { reason: "ContainerCreating" } },
        },
      ],
    },
  };

  test("a crash reports the last line of its log; a pod that starts has no problem", () => {
    expect(podProblem(waiting("CrashLoopBackOff"), NOW_MS)?.text).toBe(
      "pod p: container engine crashes (CrashLoopBackOff): exit code 1: io_uring_register_buffers failed",
    );
    expect(podProblem(starting, NOW_MS)?.type).toBe("notReady");
    expect(podProblem(pod("p", 0, true), NOW_MS)).toBeUndefined();
  });

  test("io_uring is explained", () => {
    const creating = engine({ phase: "creating", conditions: [condition("Ready", "False", "Rolling")] });
    const crashing = { ...waiting("CrashLoopBackOff"), metadata: pod("p", 1, false).metadata ?? {} };
    expect(explain(creating, [crashing])?.next).toMatch(/Linux 6\.1/);
  });
});

describe("objects of an older operator or CRD, which name a cause without a record of it", () => {
  const cause = "container engine runs, but its readiness probe fails";
  const failing = (name: string, container: string, labels: Record<string, string>): V1Pod => ({
    metadata: { name, namespace: "ns", labels },
    spec: { containers: [] },
    status: {
      phase: "Running",
      containerStatuses: [
        {
          ...{ name: container, image: "", imageID: "", ready: false, restartCount: 0, started: true },
          state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
        },
      ],
    },
  });

  test("of an engine, it is printed once", () => {
    const conditions = [
      condition("Ready", "False", "PodsNotReady", `Generation 0: 0 of 1 pods ready: pod e-g0-0: ${cause}`),
    ];
    const labels = { "firebolt.io/engine": "e", "firebolt.io/generation": "0" };
    const found = explain(engine({ phase: "stable", conditions }), [failing("e-g0-0", "engine", labels)]);
    expect(found).toMatchObject({ reason: "PodsNotReady", why: `pod e-g0-0: ${cause}` });
  });

  test.each([
    ["metadata", "pod i-metadata-0: container metadata runs, but its readiness probe fails"],
    ["gateway", "d has no ready replica: x; pod i-gateway-0: container gateway runs, but its readiness probe fails"],
  ])("of an instance, it is printed once; a pod of %s", (component, why) => {
    const instance: FireboltInstance = {
      metadata: { name: "i", namespace: "ns" },
      spec: { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, metadataNG: false },
      status: {
        phase: "Provisioning",
        conditions: [condition("MetadataReady", "False", "Provisioning", "d has no ready replica: x")],
      },
    };
    const labels = { "firebolt.io/component": component };
    expect(explainOf(instance, [failing(`i-${component}-0`, component, labels)])?.why).toBe(why);
  });
});

test("instances: the first component that is not ready, and the problem of its pods", () => {
  const instance: FireboltInstance = {
    metadata: { name: "i", namespace: "ns" },
    spec: { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, metadataNG: false },
    status: {
      phase: "Provisioning",
      conditions: [
        condition("GatewayReady", "False", "Provisioning", "0 of 2"),
        condition("MetadataReady", "False", "EnsureFailed", "exceeded quota: small"),
      ],
    },
  };
  expect(explainOf(instance, [])).toMatchObject({
    reason: "EnsureFailed",
    why: "exceeded quota: small",
    next: "raise the quota or request less: kubectl describe resourcequota -n ns",
  });
  const one = (type: string, reason: string, message = "m", metadata = {}): FireboltInstance => ({
    ...instance,
    metadata: { ...instance.metadata, ...metadata },
    status: { phase: "Degraded", conditions: [condition(type, "False", reason, message)] },
  });
  expect(explainOf(one("GatewayReady", "Provisioning"), [])?.next).toMatch(
    /see its pods: kubectl get pods -n ns -l firebolt.io\/instance=i$/,
  );
  expect(explainOf(one("MetadataReady", "CatalogueLost"), [])?.next).toContain(
    "kubectl describe fireboltinstance i -n ns",
  );
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["firebolt.io/instance"] };
  expect(explainOf(one("Ready", "DeletionBlocked", "engines a, b use it", deleted), [])).toMatchObject({
    why: "engines a, b use it",
    next: expect.stringMatching(
      /deleted with the instance, unless .*volumeRetention is Retain.*kubectl annotate fireboltinstance i -n ns --overwrite firebolt.io\/delete-despite-engines=true$/,
    ),
  });
  expect(explainOf(one("Ready", "Other", "", deleted), [])?.why).toContain("firebolt.io/instance");
  const unready: V1Pod = {
    ...pod("i-metadata-0", 0, false),
    status: {
      phase: "Running",
      containerStatuses: [
        {
          ...{ name: "metadata", image: "", imageID: "", ready: false, restartCount: 0, started: true },
          state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
        },
      ],
    },
  };
  expect(explainOf(one("MetadataReady", "Provisioning", "not ready"), [unready])).toMatchObject({
    why: "not ready; pod i-metadata-0: container metadata runs, but its readiness probe fails",
    next: expect.stringMatching(/kubectl logs i-metadata-0 -n ns -c metadata; if PostgreSQL rejects the password/),
  });
  const said = "pod i-metadata-0: container metadata runs, but its readiness probe fails";
  const shows = one("MetadataReady", "Provisioning", `0 of 1 pods ready: ${said}`);
  const reported = { metadata: contentHash("container metadata runs, but its readiness probe fails") };
  expect(explainOf({ ...shows, status: { ...shows.status, reported } }, [unready])?.why).toBe(
    `0 of 1 pods ready: ${said}`,
  );
  expect(explainOf({ ...instance, status: { phase: "Ready" } }, [])).toBeUndefined();
  expect(explainOf({ ...instance, status: { phase: "Failed" } }, [])?.next).toContain("firebolt.io/reset-failed");
});

describe("instances that are ready", () => {
  const cause = 'container gateway: image "none" cannot be pulled (ImagePullBackOff)';
  const stuck = `pod i-gateway-1: ${cause}`;
  const message = `Deployment i-gateway has a ready replica, but its rollout is stuck: ${stuck}`;
  const instance = (text: string): FireboltInstance => ({
    metadata: { name: "i", namespace: "ns" },
    spec: { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, metadataNG: false },
    status: {
      phase: "Ready",
      ...(text === message ? { reported: { gateway: contentHash(cause) } } : {}),
      conditions: [condition("Ready", "True", "AllComponentsReady"), condition("GatewayReady", "True", "Ready", text)],
    },
  });
  const pulling: V1Pod = {
    metadata: { name: "i-gateway-1", namespace: "ns" },
    spec: { containers: [] },
    status: {
      phase: "Pending",
      containerStatuses: [
        {
          ...{ name: "gateway", image: "none", imageID: "", ready: false, restartCount: 0 },
          state: { waiting: { reason: "ErrImagePull" } },
        },
      ],
    },
  };

  test("a rollout that is stuck behind a ready replica is reported, with the next step", () => {
    expect(explainOf(instance(message), [pulling])).toMatchObject({
      why: message,
      next: expect.stringMatching(/correct the image reference.*kubectl describe pod i-gateway-1 -n ns/),
    });
    expect(explainOf(instance("Deployment i-gateway has a ready replica"), [pulling])?.why).toBe(stuck);
    expect(explainOf(instance(message), []), "pods that may not be listed").toMatchObject({
      why: message,
      next: expect.stringMatching(/see its pods: kubectl get pods -n ns -l firebolt.io\/instance=i$/),
    });
    const starting = pod("i-gateway-2", 0, false);
    expect(explainOf(instance("Deployment i-gateway has a ready replica"), [starting])).toBeUndefined();
  });
});

test.each([
  [
    "Degraded",
    "False",
    "PostgresEnsureFailed",
    "Secret s is gone; next: restore it",
    /^take the step that the message names/,
  ],
  [
    "Degraded",
    "False",
    "Provisioning",
    "d has no ready replica: c; next: do this",
    /^take the step .*kubectl get pods -n ns/,
  ],
  [
    "Ready",
    "True",
    "Ready",
    "d is ready, but there is a problem: c; next: do this",
    /^take the step .*kubectl get pods/,
  ],
  [
    "Failed",
    "False",
    "CatalogueLost",
    "the claim is gone: kubectl x",
    /^save the catalogue.*describe fireboltinstance i -n ns$/,
  ],
] as const)(
  "a message is shown whole, and the next step follows from the reason: %s %s %s",
  (phase, status, reason, why, next) => {
    const instance: FireboltInstance = {
      metadata: { name: "i", namespace: "ns" },
      spec: { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, metadataNG: false },
      status: {
        phase,
        conditions: [condition("MetadataReady", status, reason, why)],
        reported: { metadata: "hash of the cause" },
      },
    };
    expect(explainOf(instance, [])).toMatchObject({ why, next: expect.stringMatching(next) });
    expect(explainInstance({ instance, pods: [], nowMs: NOW_MS, clusterArgs: ["--context", "c"] })?.why).toBe(
      why.replace("kubectl x", "kubectl --context c x"),
    );
  },
);

describe("progress", () => {
  const observed = (
    pods: readonly V1Pod[],
    queries: ReadonlyMap<string, PodQueries> = new Map(),
  ): ObservedPlatform => ({
    nowMs: 0,
    instances: [],
    engines: [],
    deployments: [],
    services: [],
    instancePods: [],
    statefulSets: [0, 1].map((generation) => ({
      metadata: { ...pod("", generation, true).metadata },
      spec: { replicas: 2, selector: {}, template: {} },
    })),
    enginePods: pods,
    queries,
  });
  const rolling = [condition("Ready", "False", "Rolling")];

  test("grows with ready pods, then with idle ones, and is complete at rest", () => {
    const shares = [
      { status: { phase: "creating", conditions: rolling }, pods: [pod("e-g1-0", 1, false), pod("e-g1-1", 1, false)] },
      { status: { phase: "creating", conditions: rolling }, pods: [pod("e-g1-0", 1, true), pod("e-g1-1", 1, false)] },
      { status: { phase: "switching", conditions: rolling }, pods: [] },
      {
        status: { phase: "draining", drainingGeneration: 0, activeGeneration: 1, conditions: rolling },
        pods: [pod("e-g0-0", 0, true), pod("e-g0-1", 0, true)],
      },
      { status: { phase: "cleaning", conditions: rolling }, pods: [] },
      {
        status: {
          phase: "stable",
          activeGeneration: 1,
          observedGeneration: 2,
          conditions: [condition("Ready", "True", "EngineReady")],
        },
        pods: [],
      },
    ].map(({ status, pods }) => {
      const queries = new Map([
        ["ns/e-g0-0", { type: "read", queries: 0 } as const],
        ["ns/e-g0-1", { type: "read", queries: 5 } as const],
      ]);
      return rolloutProgress(viewEngine(engine(status), observed(pods, queries)));
    });
    expect(shares.map(({ share }) => Math.round(share * 1000) / 1000)).toEqual([0.05, 0.325, 0.6, 0.8, 0.95, 1]);
    expect(shares.map(({ state }) => state)).toEqual(["moving", "moving", "moving", "moving", "moving", "done"]);
    expect(shares[3]?.text).toBe("5 queries run on 1 of 2 pods of generation 0");
  });

  test("objects that may not be listed are shown as the operator last reported them", () => {
    const serving = { phase: "stable", activeGeneration: 1, conditions: [condition("Ready", "True", "EngineReady")] };
    const unreadable = new Set(["pods", "services", "statefulsets"]);
    const view = viewEngine(engine(serving), { ...observed([]), statefulSets: [], unreadable });
    expect(view.generations).toMatchObject([{ generation: 1, role: "active", serves: true, ready: 2, wanted: 2 }]);
    expect(viewEngine(engine(serving), { ...observed([]), statefulSets: [] }).generations).toEqual([]);
  });

  test("unknown is not zero", () => {
    const draining = engine({ phase: "draining", drainingGeneration: 0, activeGeneration: 1, conditions: rolling });
    const queries = new Map([
      ["ns/e-g0-0", { type: "unknown", cause: "you have no permission to get pods/proxy" } as const],
    ]);
    const progress = rolloutProgress(viewEngine(draining, observed([pod("e-g0-0", 0, true)], queries)));
    expect(progress).toMatchObject({
      share: 0.65,
      text: "the number of running queries on generation 0 is unknown: you have no permission to get pods/proxy",
    });
  });

  test("a condition that only a person can resolve is stuck", () => {
    const rejected = engine({
      phase: "stable",
      conditions: [condition("Ready", "False", "TemplateRejected", "spec.x")],
    });
    expect(rolloutProgress(viewEngine(rejected, observed([])))).toMatchObject({ state: "stuck", text: "spec.x" });
  });
});
