// Every way from a pod template to a Secret (docs/design/admission.md#protected-secrets): through its volumes and
// through the environment of its containers. The caller decides which Secrets matter and what follows.

import type { V1Container, V1Volume } from "../../api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { Violation } from "../rules/violation.ts";
import type { IsProtected } from "./protected-secrets.ts";

type Template = DeepReadonly<PodTemplateFragment> | undefined;
type Container = DeepReadonly<V1Container>;

/** The ways through volumes and environment. `path` is where the template is. */
export function validateSecretReach(template: Template, path: string, isProtected: IsProtected): Violation[] {
  const ofVolumes = (template?.spec?.volumes ?? []).flatMap((volume, index) =>
    reached(secretsOfVolume(volume), `${path}.spec.volumes[${index}]`, isProtected),
  );
  return [...ofVolumes, ...validateEnvironmentReach(template, path, isProtected)];
}

/** The ways through the environment alone. */
export function validateEnvironmentReach(template: Template, path: string, isProtected: IsProtected): Violation[] {
  const { containers = [], initContainers = [] } = template?.spec ?? {};
  const of = (list: readonly Container[], field: string) =>
    list.flatMap((container, index) =>
      reached(secretsOfContainer(container), `${path}.spec.${field}[${index}]`, isProtected),
    );
  return [...of(containers, "containers"), ...of(initContainers, "initContainers")];
}

/** Names of the Secrets that a volume mounts or uses. */
export function secretsOfVolume(volume: DeepReadonly<V1Volume>): readonly string[] {
  return named([
    volume.secret?.secretName,
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
    volume.csi?.nodePublishSecretRef?.name,
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.flexVolume?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.rbd?.secretRef?.name,
    volume.scaleIO?.secretRef?.name,
    volume.storageos?.secretRef?.name,
  ]);
}

function secretsOfContainer({ env = [], envFrom = [] }: Container): readonly string[] {
  return named([
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...envFrom.map(({ secretRef }) => secretRef?.name),
  ]);
}

/** Without duplicates. */
function named(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== undefined).filter((name) => name !== "");
}

function reached(secrets: readonly string[], path: string, isProtected: IsProtected): Violation[] {
  return secrets.filter(isProtected).map((name) => ({
    path,
    type: "Forbidden",
    detail: `reaches Secret ${JSON.stringify(name)}, which belongs to the operator and may not be exposed to user containers: remove the reference`,
  }));
}
