// The observer of the integration tests can fail: for each invariant it watches, a history that breaks it and nothing
// else.
import { expect, test } from "vitest";
import type { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import type { EngineStatus } from "../../src/api/firebolt-engine/status.ts";
import type { V1Pod, V1Service, V1StatefulSet } from "../../src/api/generated/kubernetes.ts";
import type { Seen } from "../engine/support/history.ts";
import { brokenInvariants } from "../engine/support/invariants.ts";

type Entry = Omit<Seen, "version" | "atMs">;

const labels = (generation: number) => ({ "firebolt.io/engine": "e", "firebolt.io/generation": String(generation) });

function engine(status: Partial<EngineStatus> & Pick<EngineStatus, "phase">): Entry {
  const object: FireboltEngine = {
    metadata: { name: "e", uid: "u" },
    status: { currentGeneration: 0, activeGeneration: -1, ...status },
  };
  return { kind: "FireboltEngine", name: "e", change: "stored", object };
}

function set(generation: number, metadata: V1StatefulSet["metadata"] = {}): Entry {
  const name = `e-g${generation}`;
  const ownerReferences = [{ apiVersion: "v1", kind: "FireboltEngine", name: "e", uid: "u" }];
  const object = {
    metadata: { name, labels: labels(generation), ownerReferences, ...metadata },
    spec: { replicas: 1 },
  };
  return { kind: "StatefulSet", name, change: "stored", object: object as V1StatefulSet };
}

function service(generation: number): Entry {
  const metadata = { name: "e-service", labels: { "firebolt.io/engine": "e" } };
  const object: V1Service = { metadata, spec: { selector: labels(generation) } };
  return { kind: "Service", name: "e-service", change: "stored", object };
}

function pod(generation: number, ready: boolean): Entry {
  const name = `e-g${generation}-0`;
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
  const object: V1Pod = { metadata: { name, labels: labels(generation) }, status: { phase: "Running", conditions } };
  return { kind: "Pod", name, change: "stored", object };
}

function judge(entries: readonly Entry[]): readonly string[] {
  const all = entries.map((entry, index) => ({ ...entry, version: BigInt(index + 1), atMs: index }) as Seen);
  return brokenInvariants({
    all: () => all,
    of: () => [],
    latest: () => undefined,
    present: () => [],
    [Symbol.asyncDispose]: async () => undefined,
  });
}

const gone = { deletionTimestamp: "2026-01-01T12:00:00Z" };
/** A good creation, and a good roll up to the moment where both generations are there. */
const created = [
  engine({ phase: "creating" }),
  set(0),
  service(0),
  pod(0, true),
  engine({ phase: "switching" }),
  engine({ phase: "stable", activeGeneration: 0 }),
];
const rolling = [
  ...created,
  engine({ phase: "creating", currentGeneration: 1, activeGeneration: 0 }),
  set(1),
  pod(1, true),
  engine({ phase: "switching", currentGeneration: 1, activeGeneration: 0 }),
];
const switched = [
  ...rolling,
  service(1),
  engine({ phase: "draining", currentGeneration: 1, activeGeneration: 1, drainingGeneration: 0 }),
];

test("a good history breaks nothing", () => {
  const cleaned = [
    engine({ phase: "cleaning", currentGeneration: 1, activeGeneration: 1, drainingGeneration: 0 }),
    set(0, gone),
    engine({ phase: "stable", currentGeneration: 1, activeGeneration: 1 }),
  ];
  expect(judge([...switched, ...cleaned])).toEqual([]);
});

/** The draining generation is wanted again. */
const takenBack = [
  ...switched,
  pod(0, true),
  service(0),
  engine({
    phase: "draining",
    currentGeneration: 0,
    activeGeneration: 0,
    drainingGeneration: 1,
    highestGeneration: 1,
  }),
];

test("a draining generation that is switched back to breaks nothing, and its successor's number is not used again", () => {
  const rest = { currentGeneration: 0, activeGeneration: 0, highestGeneration: 1 };
  const next = { currentGeneration: 2, activeGeneration: 0 };
  const after = [
    engine({ phase: "cleaning", ...rest, drainingGeneration: 1 }),
    set(1, gone),
    engine({ phase: "stable", ...rest }),
  ];
  expect(judge([...takenBack, ...after, engine({ phase: "creating", ...next }), set(2)])).toEqual([]);
  const reused = { currentGeneration: 1, activeGeneration: 0 };
  expect(judge([...takenBack, ...after, engine({ phase: "creating", ...reused })])[0]).toMatch(/^numbers-never-reused/);
});

test.each([
  ["status-in-range", [engine({ phase: "creating", currentGeneration: -2, activeGeneration: -2 })]],
  ["numbers-never-reused", [...rolling, engine({ phase: "creating", currentGeneration: 0, activeGeneration: 0 })]],
  ["numbers-never-reused", [...created, engine({ phase: "creating", currentGeneration: 2, activeGeneration: 0 })]],
  ["active-never-goes-back", [...rolling, engine({ phase: "switching", currentGeneration: 1, activeGeneration: -1 })]],
  ["one-generation-at-rest", [...rolling, engine({ phase: "stable", currentGeneration: 1, activeGeneration: 0 })]],
  ["draining-only-after-switch", [...created, engine({ phase: "stable", activeGeneration: 0, drainingGeneration: 0 })]],
  ["no-bump-mid-rollout", [...switched, engine({ phase: "draining", currentGeneration: 2, activeGeneration: 1 })]],
  ["only-legal-moves", [...created, engine({ phase: "cleaning", activeGeneration: 0 })]],
  ["number-before-objects", [...created, set(1)]],
  ["stateful-sets-never-changed", [...created, set(0, { generation: 2 })]],
  ["routed-to-active-or-current", [...rolling, service(7)]],
  [
    "ready-before-switch",
    [
      ...created,
      engine({ phase: "creating", currentGeneration: 1, activeGeneration: 0 }),
      set(1),
      pod(1, false),
      service(1),
    ],
  ],
  ["serving-never-deleted", [...rolling, set(0, gone)]],
  ["serving-never-deleted", [...rolling, service(1), set(1, gone)]],
  ["selector-never-goes-back", [...switched, service(0)]],
  [
    "selector-never-goes-back",
    [
      ...switched,
      service(0),
      engine({ phase: "draining", currentGeneration: 1, activeGeneration: 1, drainingGeneration: 0 }),
    ],
  ],
  [
    "active-never-goes-back",
    [...switched, engine({ phase: "draining", currentGeneration: 1, activeGeneration: 0, drainingGeneration: 1 })],
  ],
] as const)("%s: a history that breaks it is found", (invariant, entries) => {
  const broken = judge(entries);
  expect(broken.length).toBeGreaterThan(0);
  expect(broken.some((text) => text.startsWith(invariant))).toBe(true);
});
