// Which writes bring an engine's objects back to what they should be: the generation set and the routing Service. Says
// nothing about when; the phases do. Unchanged objects are not written again.
import { type CoverRules, covers } from "@firebolt-operator/kube/reconcile";
import {
  CHILD_KINDS,
  type ChildKind,
  type ChildOf,
  type ChildTypes,
  eachPart,
  PART_NAMES,
  PARTS,
  type Part,
  type PartObject,
} from "../model/child-kinds.ts";
import type { Child, Pod } from "../model/children.ts";
import type { Apply, Ensure, Obstacle, PartWrites, Removal, RoutingWrite } from "../model/decision.ts";
import type { EngineSnapshot, GenerationSet } from "../model/snapshot.ts";
import type { RenderedGeneration } from "../render/generation.ts";
import { renderRoutingService } from "../render/routing-service.ts";

/**
 * What others add is left alone everywhere, and what the API server does not store (false, empty) equals absence:
 * otherwise the same write would be repeated for ever.
 */
const RULES: CoverRules = { ignoredAdditions: "all", emptyIsAbsent: true };

type Named = { readonly metadata?: { readonly name?: string; readonly uid?: string } };

/** In `creating`: the whole set as rendered, the StatefulSet only when there is none. */
export function ensureSet({ current }: EngineSnapshot, rendered: RenderedGeneration): Ensure {
  const [obstacle] = [
    ...PART_NAMES.map((part) => obstacleIn(PARTS[part].kind, current[part])),
    obstacleIn("StatefulSet", current.statefulSet),
  ].filter((found) => found !== undefined);
  if (obstacle !== undefined) return { obstacle };
  return {
    ...partWrites((part) => applyOf(current[part], rendered[part])),
    ...(current.statefulSet.type === "absent" ? { statefulSet: rendered.statefulSet } : {}),
  };
}

/**
 * At rest: only missing objects are restored. Manually edited content stays, because engines read it at their start
 * only.
 */
export function restoreMissing({ current }: EngineSnapshot, rendered: RenderedGeneration): Ensure {
  return partWrites((part) =>
    current[part].type === "absent" ? { object: rendered[part], exists: false } : undefined,
  );
}

/** Only the parts that are to be written. */
function partWrites(of: (part: Part) => Apply<PartObject<Part>> | undefined): PartWrites {
  const writes = eachPart<{ readonly [P in Part]: Apply<PartObject<P>> | undefined }>(of);
  return Object.fromEntries(Object.entries(writes).filter(([, write]) => write !== undefined));
}

/** The routing Service where it does not exist yet. A name that is taken is left to `switching`. */
export function routingIfMissing(s: EngineSnapshot, generation: number): Pick<Ensure, "routing"> {
  return s.routing.type === "absent" ? { routing: routingTo(s, generation, { type: "absent" }) } : {};
}

/** The routing Service where it is missing, selects something else or lost its ports. */
export function routingRepair(s: EngineSnapshot, generation: number): Pick<Ensure, "routing"> {
  const { routing } = s;
  if (routing.type === "absent") return routingIfMissing(s, generation);
  if (routing.type !== "live") return {};
  const write = routingTo(s, generation, { type: "live", service: routing.service });
  const { ports, publishNotReadyAddresses } = write.service.spec ?? {};
  const right =
    routing.target === generation &&
    holds(routing.service.spec, { ports, publishNotReadyAddresses }) &&
    holds(routing.service.metadata?.labels, write.service.metadata?.labels);
  return right ? {} : { routing: write };
}

/** The write that makes the routing Service select the generation, or what stands in its way. */
export function routingFlip(s: EngineSnapshot, generation: number): Pick<Ensure, "routing" | "obstacle"> {
  const { routing } = s;
  if (routing.type === "absent") return routingIfMissing(s, generation);
  if (routing.type === "live") return { routing: routingTo(s, generation, { type: "live", service: routing.service }) };
  const obstacle = obstacleIn("Service", { type: routing.type, object: routing.service });
  return obstacle === undefined ? {} : { obstacle };
}

/** The objects of a set that are there and are the engine's own, in the order of removal. */
export function removalsOf(
  set: GenerationSet,
  statefulSet: "unchanged" | "any version",
  pods: readonly Pod[] = [],
): readonly Removal[] {
  const version = set.statefulSet.type === "live" ? set.statefulSet.object.metadata?.resourceVersion : undefined;
  const pin = statefulSet === "unchanged" && version !== undefined ? { resourceVersion: version } : {};
  return [
    ...removalOf("StatefulSet", set.statefulSet).map((removal) => ({ ...removal, ...pin })),
    ...pods.flatMap(({ metadata: { name, uid } = {} }) =>
      name === undefined || uid === undefined ? [] : [{ kind: "Pod" as const, name, uid }],
    ),
    ...CHILD_KINDS.flatMap((kind) =>
      PART_NAMES.filter((part) => PARTS[part].kind === kind).flatMap((part) => removalOf(kind, set[part])),
    ),
  ];
}

function removalOf(kind: ChildKind, child: Child<Named>): readonly Removal[] {
  if (child.type !== "live") return [];
  const { name, uid } = child.object.metadata ?? {};
  return name === undefined || uid === undefined ? [] : [{ kind, name, uid }];
}

function routingTo(s: EngineSnapshot, generation: number, observed: RoutingWrite["observed"]): RoutingWrite {
  return { service: renderRoutingService(s.identity, generation), generation, observed };
}

function applyOf<T extends ChildTypes[ChildKind]>(child: Child<ChildOf<ChildKind>>, object: T): Apply<T> | undefined {
  if (child.type !== "live") return { object, exists: false };
  return isAsRendered(child.object, object) ? undefined : { object, exists: true };
}

function isAsRendered(live: ChildOf<ChildKind>, rendered: ChildTypes[ChildKind]): boolean {
  const { metadata, apiVersion: _, kind: __, ...content } = rendered;
  return holds(live, content) && holds(live.metadata?.labels, metadata?.labels);
}

const holds = (live: unknown, wanted: unknown): boolean => covers({ live, wanted }, RULES);

function obstacleIn(kind: ChildKind, child: Child<Named>): Obstacle | undefined {
  if (child.type !== "foreign" && child.type !== "terminating") return undefined;
  return { kind, name: child.object.metadata?.name ?? "", type: child.type };
}
