// Which explorations are made. Each mixes the disturbances that can interact, and starts before the first pass, in the middle of
// a rollout and in the middle of a start and a stop, so that few disturbances reach far.
import { canonicalKey } from "./canonical.ts";
import { type Cluster, touched, written } from "./cluster.ts";
import { settled } from "./environment.ts";
import type { Exploration } from "./explorer.ts";
import { CLASSES, engineOf, OPEN_INSTANCE, type SpecAxes, specOf } from "./fixtures.ts";
import { runPass } from "./run-pass.ts";
import type { Menu } from "./successors.ts";
import { type System, UNTOUCHED } from "./system.ts";

const QUIET = { crashes: false, faults: false, pauses: false } as const;

export const PROFILES = {
  /** Everything that concerns a rollout itself. */
  rollout: { ...QUIET, crashes: true, disturbances: ["spec", "class", "instance", "pods", "queries"] },
  /** The process dies, the API refuses, answers get lost, watches stand still. */
  crashes: { ...QUIET, crashes: true, faults: true, disturbances: ["spec", "class", "stall"] },
  /** People delete and edit what belongs to the operator. */
  meddling: { ...QUIET, crashes: true, disturbances: ["spec", "pods", "routing", "children", "statefulSets"] },
  /** The caches show an old cluster. */
  staleness: { ...QUIET, disturbances: ["spec", "instance", "pods", "queries", "statefulSets", "stall"] },
  /** Engines are deleted, and created again before their objects are gone. */
  deletion: { ...QUIET, crashes: true, faults: true, disturbances: ["spec", "deletion", "stall"] },
  /** A leader halts between two calls of a pass, another leads meanwhile, and the first goes on without noticing. */
  formerLeader: { ...QUIET, pauses: true, disturbances: ["spec", "pods", "queries"] },
} as const satisfies Record<string, Menu>;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = [
  "rollout",
  "crashes",
  "meddling",
  "staleness",
  "deletion",
  "formerLeader",
] as const satisfies readonly ProfileName[];

export interface Bound {
  readonly disturbances: number;
  readonly maxStates: number;
}

export async function explorationOf(name: ProfileName, bound: Bound): Promise<Exploration> {
  return { ...bound, menu: PROFILES[name], starts: await startsOf(name) };
}

async function startsOf(name: ProfileName): Promise<readonly System[]> {
  const axes = (template: SpecAxes["template"], replicas: SpecAxes["replicas"]): SpecAxes => ({
    rollout: "graceful",
    template,
    replicas,
  });
  const [a0, a1, a2, b1, b2] = [axes("A", 0), axes("A", 1), axes("A", 2), axes("B", 1), axes("B", 2)];
  const edited = async (from: SpecAxes, to: SpecAxes) => withSpec(await atRest(newEngine(from)), to);
  switch (name) {
    case "rollout":
    case "crashes":
    case "meddling":
      return [newEngine(a1), await edited(a2, b2), await edited(a0, a1), await edited(a1, a0)];
    case "staleness":
      return [newEngine(a1), await edited(a2, b2), await edited(a1, a0), unseen(await edited(a1, b1))];
    case "deletion":
      return [newEngine(a1), await edited(a2, b2), recreated(await atRest(newEngine(a1)))];
    case "formerLeader":
      return [newEngine(a1), await edited(a1, b1)];
    default:
      return name satisfies never;
  }
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
  return { ...system, cluster: written(cluster, { engine }) };
}

export function newEngine(axes: SpecAxes): System {
  const cluster: Cluster = {
    engine: engineOf(axes, "u1", 1),
    engineClass: CLASSES[0],
    instance: OPEN_INSTANCE,
    statefulSets: new Map(),
    services: new Map(),
    configMaps: new Map(),
    pods: new Map(),
    version: 1,
  };
  return { cluster, lag: {}, touched: UNTOUCHED, paused: undefined };
}

async function atRest(system: System): Promise<System> {
  for (let now = system; ; ) {
    const { cluster } = await runPass(now.cluster, {});
    const next = { ...now, cluster: settled(cluster) };
    if (canonicalKey(next) === canonicalKey(now)) return next;
    now = next;
  }
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
