// Which Secrets a pod template can read, and which of those no user template may (api §7.5): whoever may write a template could
// otherwise read the operator's own credentials through it.
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { V1Container, V1Volume } from "../api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../api/pod-template.ts";
import type { Violation } from "../podtemplate/violation.ts";
import type { Instance } from "./children.ts";
import { databaseSecretName } from "./render/metadata.ts";

type Volume = DeepReadonly<V1Volume>;
type Container = DeepReadonly<V1Container>;

/** Every way from a template to a protected Secret. `path` is where the template is. */
export function validateSecretReach(
  template: DeepReadonly<PodTemplateFragment> | undefined,
  path: string,
  isProtected: (secret: string) => boolean,
): Violation[] {
  const { volumes = [], containers = [], initContainers = [] } = template?.spec ?? {};
  const ofContainers = (list: readonly Container[], field: string) =>
    list.flatMap((container, index) =>
      reached(secretsOfContainer(container), `${path}.spec.${field}[${index}]`, isProtected),
    );
  return [
    ...volumes.flatMap((volume, index) =>
      reached(secretsOfVolume(volume), `${path}.spec.volumes[${index}]`, isProtected),
    ),
    ...ofContainers(containers, "containers"),
    ...ofContainers(initContainers, "initContainers"),
  ];
}

/** The Secrets of an instance that are the operator's alone to mount. */
export function protectedSecrets({ metadata, spec, status }: Instance): (secret: string) => boolean {
  const name = metadata?.name ?? "";
  const names = new Set<string | undefined>([
    databaseSecretName(name, spec),
    `${name}-metadata-postgres-creds`,
    `${name}-engine-ca-bundle`,
    status?.engineTLS?.secretName,
    status?.gatewayTLS?.secretName,
    spec.tls?.gateway?.clientCASecretRef?.name,
    ...(status?.auth?.signingKeys ?? []).map(({ secretName }) => secretName),
  ]);
  return (secret) => names.has(secret) || isSigningKeyName(secret) || isEngineCertificateName(secret);
}

/** `<something>-auth-signing`, alone or followed by `-…`. */
const isSigningKeyName = (name: string): boolean => /^.+-auth-signing(?:-.*)?$/.test(name);
/** `<something>-g<something>-engine-tls`. */
const isEngineCertificateName = (name: string): boolean => /-g.*-engine-tls$/.test(name);

function reached(secrets: readonly (string | undefined)[], path: string, isProtected: (name: string) => boolean) {
  const found = [...new Set(secrets)].filter((name) => name !== undefined && name !== "" && isProtected(name));
  return found.map(
    (name): Violation => ({
      path,
      type: "Forbidden",
      detail: `reaches Secret ${JSON.stringify(name)}, which belongs to the operator and may not be exposed to user containers`,
    }),
  );
}

function secretsOfVolume(volume: Volume): readonly (string | undefined)[] {
  return [
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
  ];
}

function secretsOfContainer({ env = [], envFrom = [] }: Container): readonly (string | undefined)[] {
  return [
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...envFrom.map(({ secretRef }) => secretRef?.name),
  ];
}
