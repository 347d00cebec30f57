// Which objects of an engine nothing refers to any more (docs/design/engine.md#sweep). Pure: the caller confirms the
// view before it deletes anything.
import { CHILD_KINDS, type ChildObject, generationLabel, isOwnedBy } from "../model/children.ts";
import type { Removal } from "../model/decision.ts";
import type { Generations } from "../model/snapshot.ts";

export interface SweepView {
  readonly uid: string;
  readonly generations: Generations;
  /** What the routing Service selects; -1 for nothing the operator would write. */
  readonly routingTarget: number;
}

/** In the order of removal: StatefulSets, then Services, then ConfigMaps. */
export function selectOrphans(view: SweepView, children: readonly ChildObject[]): readonly Removal[] {
  const { current, active, draining = -1, highest } = view.generations;
  const keep = new Set([current, active, draining, view.routingTarget]);
  // Something newer than every known generation means that the view is old, not that the object is. Switching back
  // leaves numbers above the current one that are known to have been abandoned.
  const newest = Math.max(current, active, draining);
  const floor = highest > newest ? highest + 1 : newest;
  const isOrphan = ({ metadata }: ChildObject): boolean => {
    const generation = generationLabel(metadata);
    return (
      generation !== undefined &&
      generation < floor &&
      !keep.has(generation) &&
      metadata.deletionTimestamp === undefined &&
      isOwnedBy(metadata, view.uid)
    );
  };
  const orphans = children.filter(isOrphan);
  return CHILD_KINDS.flatMap((kind) => orphans.filter((orphan) => orphan.kind === kind).flatMap(removalOf));
}

function removalOf({ kind, metadata: { name, uid } }: ChildObject): readonly Removal[] {
  return name === undefined || uid === undefined ? [] : [{ kind, name, uid }];
}
