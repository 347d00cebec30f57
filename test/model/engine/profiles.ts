// Which explorations are made. Each mixes the disturbances that can interact, and starts before the first pass, in the
// middle of a rollout and in the middle of a start and a stop, so that few disturbances reach far.
import { canonicalKey } from "./canonical.ts";
import { Violation } from "./checks.ts";
import { type Cluster, childMaps, LONG_MS, NOW_MS, type Settings, touched, written } from "./cluster.ts";
import { later, settled } from "./environment.ts";
import type { Exploration } from "./explorer.ts";
import { CLASSES, engineOf, OPEN_INSTANCE, type SpecAxes, specOf } from "./fixtures.ts";
import { runPass } from "./run-pass.ts";
import type { Menu } from "./successors.ts";
import { type System, UNTOUCHED } from "./system.ts";

const QUIET = { crashes: false, faults: false, pauses: false } as const;

/**
 * No settle time for addresses, and one step of the clock is longer than everything that is waited for.
 */
const AT_ONCE: Settings = { settleMs: 0, tickMs: LONG_MS, remembers: false };

export const PROFILES = {
  /** Everything that concerns a rollout itself. */
  rollout: { ...QUIET, crashes: true, disturbances: ["spec", "class", "instance", "pods", "queries"] },
  /** The process dies, the API server rejects, responses get lost, watches stand still. */
  crashes: { ...QUIET, crashes: true, faults: true, disturbances: ["spec", "class", "stall"] },
  /** People delete and edit what belongs to the operator. */
  meddling: { ...QUIET, crashes: true, disturbances: ["spec", "pods", "routing", "children"] },
  /** People and policies delete and scale StatefulSets, and new generations that nothing explains wait. */
  editing: { ...QUIET, disturbances: ["spec", "statefulSets", "orphans"] },
  /** The caches show an old cluster. */
  staleness: { ...QUIET, disturbances: ["spec", "pods", "queries", "statefulSets", "stall"] },
  /** Engines are deleted, and created again before their objects are deleted. */
  deletion: { ...QUIET, crashes: true, faults: true, disturbances: ["spec", "deletion", "stall"] },
  /**
   * A leader halts between two calls of a pass, another leads meanwhile, and the first continues without detecting it.
   */
  formerLeader: { ...QUIET, pauses: true, disturbances: ["spec", "pods", "queries"] },
  /** A standby is elected some of whose watches have stood still since an earlier state. */
  newLeader: {
    ...QUIET,
    disturbances: ["template", "routing"],
    standbys: [["engine"], ["engine", "statefulSets", "pods"]],
  },
  /** Queries run on pods that come, go and fail, while what the cache shows of pods and StatefulSets is old. */
  drain: {
    ...QUIET,
    disturbances: ["pods", "queries"],
    freeStalls: [["pods"], ["statefulSets"], ["statefulSets", "pods"]],
  },
  /**
   * A client points the routing Service at any generation there is, behind the back of a cache that shows an old one.
   */
  routing: { ...QUIET, disturbances: ["spec", "routing"], freeStalls: [["services"]] },
  /** Clients use stale addresses until the settle time has passed, and probes are as old as the prober allows. */
  settle: { ...QUIET, disturbances: ["queries", "routing"], freeStalls: [["services"]] },
  /** Names are taken, labels get lost, writes are forbidden, pods lose their StatefulSet. */
  strangers: { ...QUIET, disturbances: ["spec", "strangers", "labels", "forbidden", "orphans", "routing"] },
  /** The engine stops when it is idle, and queries request it at any moment. */
  autoStop: { ...QUIET, crashes: true, disturbances: ["wake", "queries", "pods", "spec"] },
} as const satisfies Record<string, Menu>;

const SETTINGS: Partial<Record<ProfileName, Settings>> = {
  settle: { settleMs: 35_000, tickMs: 20_000, remembers: true },
  autoStop: { settleMs: 0, tickMs: 4 * 60_000, remembers: false },
};

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = [
  "rollout",
  "crashes",
  "meddling",
  "editing",
  "staleness",
  "deletion",
  "formerLeader",
  "newLeader",
  "drain",
  "routing",
  "settle",
  "strangers",
  "autoStop",
] as const satisfies readonly ProfileName[];

/** The number of disturbances in unit tests; `npm run explore` uses more. */
export const DISTURBANCES_IN_TESTS = {
  rollout: 2,
  crashes: 2,
  meddling: 2,
  editing: 2,
  staleness: 2,
  deletion: 2,
  formerLeader: 2,
  newLeader: 1,
  drain: 2,
  routing: 2,
  settle: 2,
  strangers: 1,
  autoStop: 1,
} as const satisfies Record<ProfileName, number>;

export interface Bound {
  readonly disturbances: number;
  readonly maxStates: number;
}

export async function explorationOf(name: ProfileName, bound: Bound): Promise<Exploration> {
  return { ...bound, menu: PROFILES[name], starts: await startsOf(name) };
}

async function startsOf(name: ProfileName): Promise<readonly System[]> {
  const settings = SETTINGS[name] ?? AT_ONCE;
  const axes = (template: SpecAxes["template"], replicas: SpecAxes["replicas"]): SpecAxes => ({
    rollout: "graceful",
    template,
    replicas,
  });
  const [a0, a1, a2, b1, b2] = [axes("A", 0), axes("A", 1), axes("A", 2), axes("B", 1), axes("B", 2)];
  const created = (from: SpecAxes) => newEngine(from, settings);
  const edited = async (from: SpecAxes, to: SpecAxes) => withSpec(await atRest(created(from)), to);
  switch (name) {
    case "rollout":
    case "crashes":
    case "meddling":
      return [created(a1), await edited(a2, b2), await edited(a0, a1), await edited(a1, a0)];
    case "staleness":
      return [created(a1), await edited(a2, b2), unseen(await atRest(created(a1)))];
    case "deletion":
      return [created(a1), await edited(a2, b2), recreated(await atRest(created(a1)))];
    case "editing":
      return [await edited(a1, b1)];
    case "formerLeader":
      return [created(a1), await edited(a1, b1)];
    case "strangers": {
      const rolling = await edited(a1, b1);
      // A generation that is about to be abandoned, and one that must not be created.
      const doomed = withSpec(await passed(await passed(rolling)), a2);
      const banned = { ...rolling, cluster: { ...rolling.cluster, forbidden: "statefulSets" } } as const;
      return [created(a1), rolling, doomed, banned];
    }
    case "newLeader": {
      const rolling = await edited(a1, b1);
      // A standby has seen an edit, and not that it was reverted.
      const doomed = withSpec(await passed(await passed(rolling)), a1);
      return [rolling, { ...withSpec(doomed, b1), standby: { engine: doomed.cluster.engine } }];
    }
    case "settle":
      return [await edited(a1, b1), await edited(a1, a0)];
    case "drain":
      return [await edited(a1, b1), await edited(a2, b1)];
    case "routing":
      return [
        await edited(a1, b1),
        await edited(a1, a0),
        withOrphans(await atRest(await edited(a1, b1)), await atRest(created(a1))),
      ];
    case "autoStop":
      return [await atRest(created(a1)), created({ ...a1, autoStop: true })].map((system) =>
        withSpec(system, { ...a1, autoStop: true }),
      );
    default:
      return name satisfies never;
  }
}

/** Objects of a superseded generation are still there: their deletion was never carried out. */
function withOrphans(system: System, earlier: System): System {
  const { cluster } = system;
  const both = <T>(now: ReadonlyMap<string, T>, before: ReadonlyMap<string, T>) => new Map([...before, ...now]);
  return {
    ...system,
    cluster: {
      ...cluster,
      ...childMaps((map) => both<object>(cluster[map], earlier.cluster[map])),
      pods: both(cluster.pods, earlier.cluster.pods),
    },
  };
}

/** The process has never seen the StatefulSet that serves. */
function unseen(system: System): System {
  return { ...system, lag: { statefulSets: new Map() } };
}

/** The engine has been replaced by another of the same name, and the old one's objects are still there. */
function recreated(system: System): System {
  const { cluster } = system;
  const { version } = cluster;
  const engine = engineOf({ template: "A", replicas: 1, rollout: "graceful" }, `u${version + 1}`, version + 1);
  return { ...system, cluster: written(cluster, { engine, used: -1 }) };
}

export function newEngine(axes: SpecAxes, settings: Settings = AT_ONCE): System {
  const cluster: Cluster = {
    engine: engineOf(axes, "u1", 1),
    engineClass: CLASSES[0],
    instance: OPEN_INSTANCE,
    ...childMaps(() => new Map()),
    pods: new Map(),
    nowMs: NOW_MS,
    settings,
    forbidden: undefined,
    probes: new Map(),
    routedMs: new Map(),
    storedBy: undefined,
    used: -1,
    version: 1,
  };
  return { cluster, lag: {}, touched: UNTOUCHED, paused: undefined };
}

async function passed(system: System): Promise<System> {
  return { ...system, cluster: (await runPass(system.cluster, {})).cluster };
}

async function atRest(system: System): Promise<System> {
  let now = system;
  for (let passes = 0; passes < 60; passes += 1) {
    const { cluster, outcome } = await runPass(now.cluster, {});
    const waitMs = outcome instanceof Error || typeof outcome === "string" ? 0 : outcome.afterMs;
    const next = { ...now, cluster: settled(later(cluster, waitMs)) };
    if (canonicalKey(next) === canonicalKey(now)) return next;
    now = next;
  }
  throw new Violation("bumps-are-finite", `no rest after 60 passes in ${now.cluster.engine?.status?.phase}`);
}

function withSpec(system: System, axes: SpecAxes): System {
  const { cluster } = system;
  const { engine } = cluster;
  if (engine === undefined) throw new Error("there is no engine to edit");
  const generation = (engine.metadata?.generation ?? 0) + 1;
  return {
    ...system,
    cluster: written(cluster, { engine: touched(cluster, { ...engine, spec: specOf(axes) }, { generation }) }),
  };
}
