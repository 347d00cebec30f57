// Compares the volume of the built-in PostgreSQL with the spec: what cannot be changed, and whether it has to grow. A
// claim that never had a volume holds no data, so it may still be replaced. Pure.

import type { BuiltInPostgres } from "../../api/firebolt-instance/postgres.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { withNextStep } from "../../api/next-step.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { compareStored, equalQuantities } from "../../api/values/quantity.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import type { LiveObject } from "../model/children.ts";
import { claimName, postgresName } from "../model/names.ts";
import { type ClaimView, childOf, type InstanceSnapshot, type VolumeTrouble } from "../model/snapshot.ts";
import { type PostgresInput, volumeWish, wantedVolume } from "../render/postgres.ts";

type Settings = DeepReadonly<BuiltInPostgres> | undefined;

const PATH = "spec.metadata.builtInPostgres.storage";

type Known = Pick<InstanceSnapshot, "instance" | "identity" | "claim" | "rejectedGrowth">;

/** Changes that the existing claim cannot make. */
export function validateVolume(s: Known): Violation[] {
  const { size, storageClassName: wanted } = s.instance.spec.metadata.builtInPostgres?.storage ?? {};
  if (s.claim === undefined) return [];
  const claim = `PersistentVolumeClaim ${claimName(s.identity.name)}`;
  const isClassFixed =
    wanted !== undefined &&
    wanted !== s.claim.storageClassName &&
    (s.claim.storageClassName !== undefined || isReplaceable(s));
  return [
    ...(size !== undefined && (compareStored(size, s.claim.size) ?? 0) < 0
      ? [invalid(`${PATH}.size`, size, `a volume cannot shrink: ${claim} has ${s.claim.size}${wayOut(s)}`)]
      : []),
    ...(isClassFixed
      ? [
          invalid(
            `${PATH}.storageClassName`,
            wanted,
            `cannot change: ${claim} has ${classOf(s.claim)}${wayOut(s, "class")}`,
          ),
        ]
      : []),
  ];
}

function wayOut(s: Known, what?: "class"): string {
  if (isReplaceable(s))
    return withNextStep(
      "; it never had a volume and so holds no data",
      `delete it, and it is created again as the spec requires: kubectl delete pvc ${claimName(s.identity.name)} -n ${s.identity.namespace}`,
    );
  return what === "class" ? "; change it back, or move the catalogue by a backup and a restore" : "";
}

/** Whether the claim never had a volume. The one in the status had. */
export function isReplaceable({ claim, instance }: Pick<Known, "claim" | "instance">): boolean {
  const remembered = instance.status?.builtInPostgres?.claimUID;
  return claim !== undefined && claim.volumeName === undefined && !claim.wasBound && claim.uid !== remembered;
}

/** The size to which the claim has to grow. Unset means its current size. */
export function growth({ instance, claim }: Pick<Known, "instance" | "claim">): string | number | undefined {
  const size = instance.spec.metadata.builtInPostgres?.storage?.size;
  return size !== undefined && (compareStored(size, claim?.size) ?? 0) > 0 ? size : undefined;
}

/** A growth that the API server rejects leaves a volume that works. */
export function growthTrouble(s: Known): VolumeTrouble | undefined {
  const { claim, rejectedGrowth: refused, identity } = s;
  const size = growth(s);
  if (claim === undefined || size === undefined || !isRefused(s)) return undefined;
  const name = claimName(identity.name);
  const of = claim.storageClassName || "NAME";
  return {
    cause: `PersistentVolumeClaim ${name} keeps its ${claim.size} of ${classOf(claim)}: it cannot grow to ${size}: ${refused?.problem}`,
    next:
      `set ${PATH}.size back to ${claim.size}; or, where its provisioner can, let the class expand volumes, and the operator tries again within ` +
      `a minute: kubectl patch storageclass ${of} -p '{"allowVolumeExpansion":true}'; or move the catalogue to a larger volume by a backup and a restore`,
  };
}

/** Whether growing to the desired size was rejected recently. */
export function isRefused(s: Known): boolean {
  return s.rejectedGrowth?.uid === s.claim?.uid && equalQuantities(s.rejectedGrowth?.size, growth(s));
}

export function classOf({ storageClassName }: Pick<ClaimView, "storageClassName">): string {
  return storageClassName ? `class ${JSON.stringify(storageClassName)}` : "no class";
}

type FixedTemplate = NonNullable<PostgresInput["claimTemplate"]>;

/** The claim template of the StatefulSet, which is immutable. */
export function claimTemplateOf(statefulSet: LiveObject): FixedTemplate | undefined {
  if (!("spec" in statefulSet) || statefulSet.spec === undefined) return undefined;
  const templates = "volumeClaimTemplates" in statefulSet.spec ? statefulSet.spec.volumeClaimTemplates : undefined;
  const { resources, storageClassName } = templates?.[0]?.spec ?? {};
  const size = resources?.requests?.["storage"];
  const wish = statefulSet.metadata?.annotations?.[ANNOTATION.volumeWish];
  return size === undefined ? undefined : { size, storageClassName, wish };
}

/** Whether the StatefulSet was created for another volume than the spec has now, and a new one would create another. */
export function isOutdated({ instance, identity, children }: Pick<Known, "instance" | "identity"> & Children): boolean {
  const statefulSet = childOf({ children }, "StatefulSet", postgresName(identity.name));
  const template = statefulSet.type === "live" ? claimTemplateOf(statefulSet.object) : undefined;
  const { builtInPostgres: settings, postgres } = instance.spec.metadata;
  if (postgres !== undefined || template === undefined || isWantedTemplate(template, settings)) return false;
  // An admission policy may have changed the template. A new one would be the same, unless the wish is another.
  return template.wish === undefined ? isAgainstSpec(template, settings) : template.wish !== volumeWish(settings);
}

type Children = Pick<InstanceSnapshot, "children">;

/** For a StatefulSet without a wish: values that the spec does not name may have come from anywhere. */
function isAgainstSpec(template: FixedTemplate, settings: Settings): boolean {
  const { size, storageClassName } = settings?.storage ?? {};
  return (
    (size !== undefined && compareStored(size, template.size) !== 0) ||
    (storageClassName !== undefined && storageClassName !== template.storageClassName)
  );
}

function isWantedTemplate(template: FixedTemplate, settings: Settings): boolean {
  const wanted = wantedVolume(settings);
  return compareStored(wanted.size, template.size) === 0 && wanted.storageClassName === template.storageClassName;
}

function invalid(path: string, value: unknown, detail: string): Violation {
  return { path, type: "Invalid value", value, detail };
}
