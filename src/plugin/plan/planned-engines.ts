// The input for planning an engine: its class and instance after the plan, and what runs now.
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import type { Effect, PlannedEffect } from "./effect.ts";
import { planEngine } from "./plan-engine.ts";
import type { PlanCluster } from "./planned-cluster.ts";
import { sameJson } from "./three-way.ts";

export async function planOneEngine(
  world: PlanCluster,
  engine: FireboltEngine,
  live: FireboltEngine | undefined,
): Promise<Effect> {
  const namespace = namespaceOf(engine);
  const [before, after, instance, statefulSet] = await Promise.all([
    world.storedClass(namespace, live?.spec?.engineClassRef),
    world.plannedClass(namespace, engine.spec?.engineClassRef),
    world.plannedInstance(namespace, engine.spec?.instanceRef),
    live === undefined ? undefined : world.statefulSetOf(live),
  ]);
  return planEngine({
    before: live === undefined ? undefined : { engine: live, engineClass: before },
    after: { engine, engineClass: after },
    instance,
    statefulSet,
    bounds: world.bounds,
  });
}

/** The engines of a class, each with the effect of the class's change. Unaffected ones are omitted. */
export async function planClassEngines(
  world: PlanCluster,
  engineClass: FireboltEngineClass,
  live: FireboltEngineClass | undefined,
): Promise<PlannedEffect["consequences"]> {
  const engines = await world.enginesOfClass(engineClass);
  const planned = await Promise.all(
    engines.map(async (engine) => {
      const [instance, statefulSet] = await Promise.all([
        world.plannedInstance(namespaceOf(engine), engine.spec?.instanceRef),
        world.statefulSetOf(engine),
      ]);
      const effect = planEngine({
        before: { engine, engineClass: live },
        after: { engine, engineClass },
        instance,
        statefulSet,
        bounds: world.bounds,
      });
      return { kind: "FireboltEngine", name: nameOf(engine), effect };
    }),
  );
  return planned.filter(({ effect }) => effect.type !== "nothing").sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * The engines that the instance's change affects: a Secret that the instance starts to use is one that their templates
 * may no longer use.
 */
export async function planInstanceEngines(
  world: PlanCluster,
  instance: FireboltInstance,
  live: FireboltInstance,
): Promise<PlannedEffect["consequences"]> {
  const engines = await world.enginesOfInstance(instance);
  const planned = await Promise.all(
    engines.map(async (engine) => {
      const [engineClass, statefulSet] = await Promise.all([
        world.plannedClass(namespaceOf(engine), engine.spec?.engineClassRef),
        world.statefulSetOf(engine),
      ]);
      const side = { engine, engineClass };
      const planWith = (of: FireboltInstance): Effect =>
        planEngine({ before: side, after: side, instance: of, statefulSet, bounds: world.bounds });
      return { kind: "FireboltEngine", name: nameOf(engine), was: planWith(live), effect: planWith(instance) };
    }),
  );
  return planned
    .filter(({ was, effect }) => effect.type !== "nothing" && !sameJson(was, effect))
    .map(({ was: _, ...one }) => one)
    .sort((a, b) => a.name.localeCompare(b.name));
}
