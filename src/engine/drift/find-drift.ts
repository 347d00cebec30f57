// Whether a live StatefulSet is still what the spec renders to, and if not, in which field it differs. Both sides are
// brought into normal form first: for every spec, what the API server makes of its rendering shows no difference (or
// engines would roll for ever).
import { ANNOTATION, LABEL } from "../../api/labels.ts";
import { COMPARED_FIELDS, type ComparedField, type StatefulSet } from "./compared-fields.ts";
import { allDifferences, type FieldDifference, firstDifference } from "./first-difference.ts";
import { isUntouchedRendering } from "./rendered-hash.ts";
import { shownDifference } from "./shown-values.ts";

export type { FieldDifference } from "./first-difference.ts";

/** Annotations that stand for inputs which leave no trace in the pod. */
const COMPARED_ANNOTATIONS = [
  ANNOTATION.metadataOverride,
  ANNOTATION.customEngineConfigHash,
  ANNOTATION.engineClassHash,
] as const;

/** DNS policies that mean the same for a pod with a network of its own. */
const DEFAULT_DNS_POLICIES: ReadonlySet<string> = new Set(["ClusterFirst", "ClusterFirstWithHostNet"]);

/**
 * The first difference, in a fixed order; undefined when there is none. `wanted` is rendered for the generation of
 * `live`.
 */
export function findDrift(live: StatefulSet, wanted: StatefulSet): FieldDifference | undefined {
  const labels = labelDifference(live, wanted);
  if (labels !== undefined) return labels;
  const annotations = annotationDifference(live, wanted);
  if (annotations === undefined && isUntouchedRendering(live, wanted)) return undefined;
  // A field explains more than a hash does, so hashes are the last resort.
  return findFieldDrift(live, wanted) ?? annotations;
}

/** The comparison itself, without the short cut for unedited sets. */
export function findFieldDrift(live: StatefulSet, wanted: StatefulSet): FieldDifference | undefined {
  for (const field of COMPARED_FIELDS) {
    const found = compareField(field, live, wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Every difference, in the order of {@link findDrift}: for people who plan a change. */
export function findAllDrift(live: StatefulSet, wanted: StatefulSet): readonly FieldDifference[] {
  return [
    ...COMPARED_FIELDS.filter((field) => compareField(field, live, wanted) !== undefined).flatMap((field) =>
      allDifferences(field.path, field.read(live), field.read(wanted), field.named).map(shownDifference),
    ),
    ...COMPARED_ANNOTATIONS.flatMap((key) => mapDifference("annotations", [key], live, wanted) ?? []),
  ];
}

function compareField(field: ComparedField, live: StatefulSet, wanted: StatefulSet): FieldDifference | undefined {
  const found = firstDifference(field.path, field.read(live), field.read(wanted), field.named);
  return found === undefined || isDefaultDnsPolicy(found, wanted) ? undefined : shownDifference(found);
}

function isDefaultDnsPolicy({ path, live }: FieldDifference, wanted: StatefulSet): boolean {
  const { dnsPolicy } = wanted.spec?.template.spec ?? {};
  return path === "spec.template.spec.dnsPolicy" && dnsPolicy === undefined && DEFAULT_DNS_POLICIES.has(live);
}

/** A set without its labels, or with others, is in no cache and is not the one that was requested. */
function labelDifference(live: StatefulSet, wanted: StatefulSet): FieldDifference | undefined {
  return mapDifference("labels", [LABEL.engine, LABEL.generation], live, wanted);
}

function annotationDifference(live: StatefulSet, wanted: StatefulSet): FieldDifference | undefined {
  return mapDifference("annotations", COMPARED_ANNOTATIONS, live, wanted);
}

/** Absent and empty are the same. */
function mapDifference(
  map: "labels" | "annotations",
  keys: readonly string[],
  live: StatefulSet,
  wanted: StatefulSet,
): FieldDifference | undefined {
  for (const key of keys) {
    const [is, should] = [live.metadata?.[map]?.[key] || undefined, wanted.metadata?.[map]?.[key] || undefined];
    if (is !== should) return { path: `metadata.${map}[${key}]`, live: is ?? "unset", wanted: should ?? "unset" };
  }
  return undefined;
}
