// What the operator would do with a changed engine, by the operator's own gates, rendering and comparison. Pure.
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { OperatorDefaults } from "../../api/operator-defaults.ts";
import { computeGates } from "../../engine/compute/gates.ts";
import { mismatch } from "../../engine/compute/mismatch.ts";
import { type FieldDifference, findAllDrift } from "../../engine/drift/find-drift.ts";
import { eachPart } from "../../engine/model/child-kinds.ts";
import { viewChild } from "../../engine/model/children.ts";
import { isAtRest, isGated, parsePhase } from "../../engine/model/phase.ts";
import { NO_PODS } from "../../engine/model/pod-state.ts";
import type { EngineSnapshot, ObservedParts } from "../../engine/model/snapshot.ts";
import { generationsOf } from "../../engine/model/stored-state.ts";
import type { ResourceBounds } from "../../engine/model/validate.ts";
import { renderGeneration } from "../../engine/render/generation.ts";
import { type EffectiveEngine, resolveEngine } from "../../engine/resolve/effective-engine.ts";
import { resolveSettings } from "../../engine/resolve/settings.ts";
import { changedPaths } from "./changed-paths.ts";
import type { Effect } from "./effect.ts";
import { learnDefaults } from "./learn-defaults.ts";
import { sameJson } from "./three-way.ts";
import { safeViolationText, withoutValues } from "./without-values.ts";

export interface EngineSide {
  readonly engine: FireboltEngine;
  /** Undefined when the engine names none, or it does not exist. */
  readonly engineClass: FireboltEngineClass | undefined;
}

export interface EngineChange {
  /** Undefined: the engine is new. */
  readonly before: EngineSide | undefined;
  readonly after: EngineSide;
  readonly instance: FireboltInstance | undefined;
  /** Of the current generation. */
  readonly statefulSet: V1StatefulSet | undefined;
  readonly bounds: ResourceBounds;
}

export function planEngine(change: EngineChange): Effect {
  const { before, after, statefulSet } = change;
  const s = snapshotOf(change);
  const phase = s.phase === "uninitialised" || s.phase === "unknown" || !isGated(s.phase) ? "creating" : s.phase;
  const gate = computeGates(s, phase);
  if (gate.type === "closed") return closedEffect(gate.decision);
  if (before === undefined) return { type: "creates", what: `generation 0 with ${replicasText(after.engine)}` };
  const { effective, instance } = gate;
  const wanted = renderGeneration({
    engine: s.identity,
    effective,
    generation: s.generations.current,
    instance,
  }).statefulSet;
  const cause = mismatch(s.current.statefulSet, wanted);
  if (cause === undefined) return liveEffect(before, after);
  // A StatefulSet that is missing or has another owner has no differences to list.
  const fields =
    statefulSet === undefined || s.current.statefulSet.type !== "live"
      ? [cause]
      : readable(findAllDrift(statefulSet, wanted), { before, effective, defaults: s.defaults });
  return { type: "rolls", what: rollText(s), fields, how: howText(s, effective) };
}

function snapshotOf({ before, after, instance, statefulSet, bounds }: EngineChange): EngineSnapshot {
  const { engine, engineClass } = after;
  const { metadata, spec } = engine;
  const status = before?.engine.status;
  const identity = { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
  const className = spec?.engineClassRef;
  const { rollout, drainCheckEnabled, drainCheckIntervalMs } = resolveSettings(engineClass?.spec, spec);
  const generations = generationsOf(before?.engine ?? {});
  const absent = { type: "absent" } as const;
  return {
    nowMs: 0,
    engine,
    identity,
    phase: parsePhase(status?.phase),
    status,
    generations,
    engineClass:
      className === undefined || className === ""
        ? { type: "none" }
        : engineClass === undefined
          ? { type: "missing", name: className }
          : { type: "found", object: engineClass },
    instance,
    bounds,
    defaults: learnDefaults({ engine: before?.engine, engineClass: before?.engineClass, statefulSet }),
    drain: { required: rollout === "graceful" && drainCheckEnabled, intervalMs: drainCheckIntervalMs, settleMs: 0 },
    current: {
      generation: generations.current,
      statefulSet: viewChild(statefulSet, identity.uid),
      ...eachPart<ObservedParts>(() => absent),
    },
    pods: { wanted: spec?.replicas ?? 0, total: 0, ready: 0, allReady: false },
    routing: absent,
    draining: undefined,
    drainingPods: NO_PODS,
    orphanedPods: [],
    drainProbe: { type: "notProbed" },
  };
}

type Closed = Extract<ReturnType<typeof computeGates>, { type: "closed" }>["decision"];

function closedEffect(decision: Closed): Effect {
  if (decision.type !== "refuse") return { type: "waits", reason: decision.type, message: "the operator holds it" };
  const { reason, message, violations } = decision.refusal;
  if (violations.length > 0) return { type: "refused", by: "operator", problems: violations.map(safeViolationText) };
  return { type: "waits", reason, message: withoutValues(message) };
}

function liveEffect(before: EngineSide, after: EngineSide): Effect {
  const [was, is] = [before, after].map(({ engine, engineClass }) => ({
    ...resolveSettings(engineClass?.spec, engine.spec),
    autoStop: engine.spec?.autoStop ?? engineClass?.spec?.autoStop,
  }));
  if (was === undefined || is === undefined) return { type: "nothing" };
  const settings = [
    ...settingText("rollout", was.rollout, is.rollout),
    ...settingText("drainCheckEnabled", was.drainCheckEnabled, is.drainCheckEnabled),
    ...settingText("drainCheckInterval", `${was.drainCheckIntervalMs} ms`, `${is.drainCheckIntervalMs} ms`),
    ...(sameJson(was.autoStop, is.autoStop) ? [] : ["autoStop"]),
  ];
  return settings.length === 0 ? { type: "nothing" } : { type: "live", settings };
}

const settingText = (name: string, was: unknown, is: unknown): readonly string[] =>
  was === is ? [] : [`${name}: ${was} → ${is}`];

/** Instead of hashes the keys behind them are shown. Their values may be secret and are never shown. */
function readable(
  differences: readonly FieldDifference[],
  {
    before,
    effective,
    defaults,
  }: { readonly before: EngineSide; readonly effective: EffectiveEngine; readonly defaults: OperatorDefaults },
): readonly FieldDifference[] {
  const hash = (key: string): string => `metadata.annotations[${key}]`;
  const fields = differences.filter(
    ({ path }) => path !== hash(ANNOTATION.customEngineConfigHash) && path !== hash(ANNOTATION.engineClassHash),
  );
  const hidden = (path: string): FieldDifference => ({ path, live: "(hidden)", wanted: "(hidden)" });
  const was = resolveEngine({ ...before, defaults }).customConfig.config;
  const config =
    differences.length === fields.length
      ? []
      : changedPaths(was, effective.customConfig.config, "spec.customEngineConfig").map(hidden);
  const shown = [...fields, ...config];
  return shown.length > 0 ? shown : differences;
}

function rollText({ phase, generations: { current } }: EngineSnapshot): string {
  if (isAtRest(phase)) return `generation ${current} → ${current + 1}`;
  if (phase === "creating") return `unfinished generation ${current} is abandoned for ${current + 1}`;
  return `generation ${current} → ${current + 1}, after the current rollout completes`;
}

function howText({ generations, engine, drain }: EngineSnapshot, effective: EffectiveEngine): readonly string[] {
  const { active, current } = generations;
  const next = current + 1;
  if (effective.replicas === 0)
    return [
      `stops: generation ${active} ${drain.required ? "is deleted once its queries finish" : "is deleted immediately"}`,
    ];
  const pods = replicasText(engine);
  if (active < 0) return [`generation ${next} starts with ${pods}; no generation served before`];
  return [
    `generation ${active} serves until ${pods} of generation ${next} ${effective.replicas === 1 ? "is" : "are"} ready; until then the cluster needs capacity for both`,
    drain.required
      ? `then generation ${active} is deleted once its queries finish`
      : `then generation ${active} is deleted immediately, running queries included`,
  ];
}

const replicasText = ({ spec }: EngineSnapshot["engine"]): string => {
  const replicas = spec?.replicas ?? 0;
  return `${replicas} ${replicas === 1 ? "pod" : "pods"}`;
};
