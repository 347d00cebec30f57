// Liveness: from a state on, with nothing going wrong any more, a bounded number of passes leads to rest, and rest is
// what the spec requests. Every state on the way is remembered, so a run ends where an earlier one has been.
import { LABEL } from "../../../src/api/labels.ts";
import { PART_NAMES, PARTS } from "../../../src/engine/model/child-kinds.ts";
import { statefulSetName } from "../../../src/engine/model/names.ts";
import { isWrite } from "./calls.ts";
import { canonicalKey } from "./canonical.ts";
import { checkPass, Violation, withPrologue } from "./checks.ts";
import { CHILD_MAPS, type Cluster, mapOf } from "./cluster.ts";
import { fairStepsOfPods, later, settled } from "./environment.ts";
import { colorOf, countersOf, isBeingDeleted, isGatedPhase, liveGenerations, targetOf } from "./facts.ts";
import { axesOf, NAME } from "./fixtures.ts";
import { describePass, type PassRecord, runPass } from "./run-pass.ts";
import { type System, touchedAfter } from "./system.ts";

const MAX_PASSES = 40;
const MAX_UNGATED_PASSES = 12;

export class FairRuns {
  readonly #passesToRest = new Map<string, number>();
  readonly #leaving = new Set<string>();
  #story: string[] = [];
  longest = 0;

  /** Throws when the run does not end, or ends wrongly. */
  async check(system: System): Promise<void> {
    this.#story = [];
    try {
      await this.#reachesRest(system);
      this.#story = [];
      const { phase } = countersOf(system.cluster.engine?.status);
      if (phase !== "" && !isGatedPhase(phase) && !isBeingDeleted(system.cluster)) await this.#leavesUngated(system);
    } catch (error) {
      throw withPrologue(
        error,
        this.#story.map((line) => `(fair run) ${line}`),
      );
    }
  }

  async #reachesRest(system: System): Promise<void> {
    const way: string[] = [];
    let known: number | undefined;
    const { standby: _, ...led } = system;
    let now: System = { ...led, cluster: settled(system.cluster), lag: {}, paused: undefined };
    for (;;) {
      const key = canonicalKey(now);
      known = this.#passesToRest.get(key);
      if (known !== undefined) break;
      way.push(key);
      if (way.length > MAX_PASSES)
        throw new Violation(
          "bumps-are-finite",
          `no rest after ${MAX_PASSES} passes in ${countersOf(now.cluster.engine?.status).phase}`,
        );
      const pass = await this.#pass(now);
      if (!pass.calls.some(isWrite)) {
        const waited = { ...now, cluster: settled(later(pass.cluster, waitOf(pass))) };
        if (canonicalKey(waited) === key) {
          checkRest(pass);
          known = -1;
          break;
        }
        now = waited;
        continue;
      }
      const touched = touchedAfter(now.touched, pass.cluster, pass.calls);
      now = { ...now, cluster: settled(pass.cluster), touched };
    }
    for (const key of way.toReversed()) this.#passesToRest.set(key, ++known);
    if (known > this.longest) this.longest = known;
  }

  /** Without instance and class the phases that do not need them still complete. */
  async #leavesUngated(system: System): Promise<void> {
    const blind = (cluster: Cluster): Cluster =>
      settled({ ...cluster, instance: undefined, engineClass: undefined, forbidden: undefined }, fairStepsOfPods);
    const way: string[] = [];
    const { standby: _, ...led } = system;
    let now: System = { ...led, cluster: blind(system.cluster), lag: {}, paused: undefined };
    while (!isGatedPhase(countersOf(now.cluster.engine?.status).phase)) {
      const key = canonicalKey(now);
      if (this.#leaving.has(key)) break;
      way.push(key);
      if (way.length > MAX_UNGATED_PASSES)
        throw new Violation("rollout-ends-without-instance", "no progress without instance and class");
      const pass = await runPass(now.cluster, {});
      this.#story.push(`without instance and class: ${describePass(pass)}`);
      now = { ...now, cluster: blind(later(pass.cluster, waitOf(pass))) };
    }
    for (const key of way) this.#leaving.add(key);
  }

  async #pass({ cluster, touched }: System): Promise<PassRecord> {
    const pass = await runPass(cluster, {});
    checkPass(pass, touched);
    this.#story.push(describePass(pass));
    return pass;
  }
}

/** How long nothing happens after a pass. */
function waitOf({ outcome }: PassRecord): number {
  return outcome instanceof Error || typeof outcome === "string" ? 0 : outcome.afterMs;
}

/** Nothing more to do: then everything must match the spec. */
function checkRest({ cluster, outcome, calls }: PassRecord): void {
  const request = calls.find(({ request: { type } }) => type !== "probe");
  if (request !== undefined)
    throw new Violation("crash-anywhere-converges", `a ${request.request.type} in every pass at rest`);
  const problem = restProblem(cluster);
  if (problem !== undefined) throw new Violation("every-edit-runs", `the engine comes to rest with ${problem}`);
  if (cluster.engine !== undefined && (outcome instanceof Error || outcome === "requeue" || outcome === "onChange"))
    throw new Violation(
      "bumps-are-finite",
      `a pass at rest ends with ${outcome instanceof Error ? outcome.message : outcome}`,
    );
}

function restProblem(cluster: Cluster): string | undefined {
  const { engine } = cluster;
  const children = CHILD_MAPS.reduce((sum, map) => sum + cluster[map].size, 0);
  if (engine === undefined) return children === 0 ? undefined : `${children} objects of an engine that is gone`;
  if (isBeingDeleted(cluster)) return "its deletion unfinished";
  const { template, replicas } = axesOf(engine);
  const { phase, current, active } = countersOf(engine.status);
  const set = cluster.statefulSets.get(statefulSetName(NAME, active));
  const ready = engine.status?.conditions?.find(({ type }) => type === "Ready");
  const stopped = replicas === 0;
  const labels = set?.spec?.template.metadata?.labels;
  const facts: readonly (readonly [string, boolean])[] = [
    [`phase ${phase}`, phase === (stopped ? "stopped" : "stable")],
    [`current ${current} and active ${active}`, current === active && active >= 0],
    [
      `observedGeneration ${engine.status?.observedGeneration}`,
      engine.status?.observedGeneration === engine.metadata?.generation,
    ],
    [`generations ${[...liveGenerations(cluster)].join()}`, liveGenerations(cluster).size === 1],
    [
      `pods of ${[...cluster.pods.keys()].join()}`,
      [...cluster.pods.keys()].every((name) => name === statefulSetName(NAME, active)),
    ],
    [`queries going to ${targetOf(cluster)}`, targetOf(cluster) === active],
    [
      `Ready ${ready?.status}/${ready?.reason}`,
      ready?.reason === (stopped ? "Stopped" : "EngineReady") && ready.status === (stopped ? "False" : "True"),
    ],
    ...PART_NAMES.map((part) => {
      const { kind, nameOf } = PARTS[part];
      return [`no ${part}`, cluster[mapOf(kind)].has(nameOf(NAME, active))] as const;
    }),
    [`replicas ${set?.spec?.replicas} instead of ${replicas}`, set?.spec?.replicas === replicas],
    [
      `another image than ${template}`,
      set?.spec?.template.spec?.containers[0]?.image?.endsWith(`:${template}`) === true,
    ],
    ["another class", labels?.["color"] === colorOf(cluster.engineClass)],
    ["labels of another generation", labels?.[LABEL.generation] === String(active)],
  ];
  return facts.find(([, holds]) => !holds)?.[0];
}
