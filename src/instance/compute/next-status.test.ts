// The roll-up of conditions, one component at a time: Ready is true only when every component is.
import { describe, expect, test } from "vitest";
import { findCondition } from "../../api/condition-list.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import type { InstancePhase } from "../../api/phases.ts";
import type { Child, Instance, LiveObject } from "../model/children.ts";
import type { Finding } from "../model/decision.ts";
import { type ChildKey, childKey, type InstanceSnapshot } from "../model/snapshot.ts";
import { initialStatus, nextStatus } from "./next-status.ts";
import { isRolledOut, isServing } from "./readiness.ts";

const deployment = (readyReplicas: number, type: "live" | "terminating" | "foreign" = "live"): Child<LiveObject> => ({
  type,
  object: { status: { readyReplicas } },
});

function snapshot(
  metadata: Child<LiveObject>,
  gateway: Child<LiveObject>,
  { phase, status }: { readonly phase?: InstancePhase; readonly status?: Instance["status"] } = {},
): InstanceSnapshot {
  const children = new Map<ChildKey, Child<LiveObject>>([
    [childKey("Deployment", "lakeside-metadata"), metadata],
    [childKey("Deployment", "lakeside-gateway"), gateway],
  ]);
  const instance = {
    metadata: { namespace: "ns", name: "lakeside", uid: "u", generation: 3 },
    spec: { metadataNG: false, metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 } },
    ...(status === undefined ? {} : { status }),
  };
  return {
    nowMs: 0,
    instance,
    identity: { namespace: "ns", name: "lakeside", uid: "u" },
    phase,
    settings: { images: OPERATOR_DEFAULTS.images, metadataConfigFormat: "xml" },
    heldBy: [],
    seen: new Set(),
    lostId: undefined,
    rejections: undefined,
    troubles: {},
    claim: undefined,
    isClaimConfirmed: false,
    rejectedGrowth: undefined,
    remadeFor: undefined,
    secret: undefined,
    credentials: { type: "usable" },
    children,
    outcomes: new Map(),
  };
}

const ready = (status: ReturnType<typeof nextStatus>) => {
  const found = findCondition(status.conditions, "Ready");
  return `${found?.status}/${found?.reason}: ${found?.message}`;
};

describe("roll-up", () => {
  test.each([
    [1, 2, "True/AllComponentsReady: all components are ready", "Ready"],
    [0, 2, "False/Provisioning: MetadataReady: Deployment lakeside-metadata has no ready replica", "Degraded"],
    [1, 0, "False/Provisioning: GatewayReady: Deployment lakeside-gateway has no ready replica", "Degraded"],
    [0, 0, "False/Provisioning: MetadataReady: Deployment lakeside-metadata has no ready replica", "Degraded"],
  ])("metadata %i, gateway %i ready: %s", (metadata, gateway, want, phase) => {
    const status = nextStatus(snapshot(deployment(metadata), deployment(gateway), { phase: "Ready" }));
    expect([ready(status), status.phase]).toEqual([want, phase]);
    expect([status.metadataReady, status.metadataEndpoint !== undefined]).toEqual([metadata > 0, metadata > 0]);
    expect([status.gatewayReady, status.gatewayEndpoint !== undefined]).toEqual([gateway > 0, gateway > 0]);
  });

  test("before the components were observed it is not true", () => {
    expect(ready(initialStatus(snapshot({ type: "absent" }, { type: "absent" })))).toMatch(/^False\/Initializing: /);
  });

  test.each(["EngineTLSReady", "GatewayTLSReady"] as const)("%s counts, once it can be false", (type) => {
    const conditions = nextStatus(snapshot(deployment(1), deployment(1))).conditions ?? [];
    expect(conditions.find((condition) => condition.type === type)).toMatchObject({
      status: "True",
      reason: "Disabled",
    });
  });

  test("a finding of one component leaves the other as observed, and the first finding of a component counts", () => {
    const findings: Finding[] = [
      { component: "gateway", reason: "EnsureFailed", message: "first" },
      { component: "gateway", reason: "EnsureFailed", message: "second" },
    ];
    const status = nextStatus(snapshot(deployment(1), deployment(1), { phase: "Ready" }), { findings });
    expect(ready(status)).toBe("False/EnsureFailed: GatewayReady: first");
    expect(findCondition(status.conditions, "MetadataReady")?.status).toBe("True");
    // Its pods run: the endpoint still works.
    expect(status.gatewayEndpoint).toBeDefined();
  });

  test("without its database metadata is not ready, whatever its pods report", () => {
    const findings: Finding[] = [{ component: "metadata", reason: "PostgresSecretPreflightFailed", message: "gone" }];
    const status = nextStatus(snapshot(deployment(1), deployment(1), { phase: "Ready" }), { findings });
    expect([status.metadataReady, status.metadataEndpoint, status.phase]).toEqual([false, undefined, "Degraded"]);
  });
});

describe("readiness", () => {
  test("an object of another owner, or one that is being deleted, does not serve", () => {
    expect([
      isServing(deployment(1)),
      isServing(deployment(1, "foreign")),
      isServing(deployment(1, "terminating")),
    ]).toEqual([true, false, false]);
  });

  test.each([
    [{ replicas: 1, updatedReplicas: 1, readyReplicas: 1, observedGeneration: 2 }, true],
    [{ replicas: 1, updatedReplicas: 1, readyReplicas: 1, observedGeneration: 1 }, false],
    [{ replicas: 2, updatedReplicas: 1, readyReplicas: 1, observedGeneration: 2 }, false],
    [{ replicas: 1, updatedReplicas: 1, readyReplicas: 0, observedGeneration: 2 }, false],
  ])("%j is rolled out: %s", (status, want) => {
    expect(isRolledOut({ type: "live", object: { metadata: { generation: 2 }, status } })).toBe(want);
  });
});
