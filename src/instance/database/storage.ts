// The volume of the built-in PostgreSQL against what the spec says of it: what cannot be, and whether it has to grow. Pure.
import type { DeepReadonly } from "../../api/deep-readonly.ts";
import type { BuiltInPostgres } from "../../api/instance-postgres.ts";
import { compareQuantities, equalQuantities } from "../../api/quantity.ts";
import type { Violation } from "../../podtemplate/violation.ts";
import type { LiveObject } from "../children.ts";
import { type ClaimTemplate, wantedVolume } from "../render/postgres.ts";
import type { ClaimView } from "../snapshot.ts";

type Settings = DeepReadonly<BuiltInPostgres> | undefined;

const PATH = "spec.metadata.builtInPostgres.storage";

/** `claim` is its name. */
export function validateVolume(settings: Settings, view: ClaimView | undefined, claim: string): Violation[] {
  const { size, storageClassName: wanted } = settings?.storage ?? {};
  if (view === undefined) return [];
  return [
    ...(size !== undefined && (compareQuantities(size, view.size) ?? 0) < 0
      ? [invalid(`${PATH}.size`, size, `a volume cannot shrink: PersistentVolumeClaim ${claim} has ${view.size}`)]
      : []),
    ...(wanted !== undefined && view.storageClassName !== undefined && wanted !== view.storageClassName
      ? [invalid(`${PATH}.storageClassName`, wanted, classText(view, claim))]
      : []),
  ];
}

function classText({ storageClassName, volumeName }: ClaimView, claim: string): string {
  const fixed = `cannot change: PersistentVolumeClaim ${claim} has class ${JSON.stringify(storageClassName)}`;
  return volumeName === undefined
    ? `${fixed}; it has no volume and so no data yet: delete it`
    : `${fixed}; change it back, or move the catalogue by a backup and a restore`;
}

/** The size that the claim is to be grown to. Unset means whatever it has. */
export function growth(settings: Settings, view: ClaimView): string | number | undefined {
  const size = settings?.storage?.size;
  return size !== undefined && (compareQuantities(size, view.size) ?? 0) > 0 ? size : undefined;
}

/** What the StatefulSet's claims are made from: it cannot be changed. */
export function claimTemplateOf(statefulSet: LiveObject): ClaimTemplate | undefined {
  if (!("spec" in statefulSet) || statefulSet.spec === undefined) return undefined;
  const templates = "volumeClaimTemplates" in statefulSet.spec ? statefulSet.spec.volumeClaimTemplates : undefined;
  const { resources, storageClassName } = templates?.[0]?.spec ?? {};
  const size = resources?.requests?.["storage"];
  return size === undefined ? undefined : { size, storageClassName };
}

export function isWantedTemplate(template: ClaimTemplate, settings: Settings): boolean {
  const wanted = wantedVolume(settings);
  return equalQuantities(wanted.size, template.size) && wanted.storageClassName === template.storageClassName;
}

function invalid(path: string, value: unknown, detail: string): Violation {
  return { path, type: "Invalid value", value, detail };
}
