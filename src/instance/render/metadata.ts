// The metadata service: one pod that alone writes to its database, so a roll waits until the old one has terminated,
// and the Service that engines connect to.
import type { V1Container } from "../../api/generated/kubernetes.ts";
import { firstPartyPullPolicy } from "../../podtemplate/image-reference.ts";
import { present } from "../../podtemplate/present.ts";
import type { Instance, Rendered } from "../model/children.ts";
import {
  componentLabels,
  credentialsSecretName,
  type InstanceIdentity,
  METADATA_PORT,
  metadataConfigName,
  metadataName,
} from "../model/names.ts";
import { podSecurity, primaryOf, renderComponentPod } from "./component-pod.ts";
import { hardened, RUNTIME_DEFAULT } from "./hardening.ts";
import { METADATA_CONFIG_FILE, type MetadataConfigFormat } from "./metadata-config.ts";
import { objectMetadata } from "./object-metadata.ts";

/** The user `dedicated-pensieve` of the image. */
const METADATA_UID = 1111;
const CONFIG_PATH = "/configs";
const CREDENTIALS_PATH = "/secrets/postgres";

export interface MetadataInput {
  readonly identity: InstanceIdentity;
  readonly spec: Instance["spec"];
  readonly format: MetadataConfigFormat;
  readonly defaultImage: string;
  readonly config: string;
}

export function renderMetadataDeployment(input: MetadataInput): Rendered<"Deployment"> {
  const { identity, spec } = input;
  const { template } = spec.metadata;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: objectMetadata(identity, "metadata", metadataName(identity.name)),
    spec: {
      replicas: 1,
      selector: { matchLabels: componentLabels(identity.name, "metadata") },
      // Two pods would write to one database, and a rolling update does not wait for a pod that is still terminating.
      strategy: { type: "Recreate" },
      template: renderComponentPod({
        instance: identity.name,
        component: "metadata",
        template,
        config: input.config,
        container: renderContainer(input),
        volumes: [
          { name: "config", configMap: { name: metadataConfigName(identity.name) } },
          { name: "postgres-creds", secret: { secretName: databaseSecretName(identity.name, spec) } },
          { name: "tmp", emptyDir: {} },
        ],
        fields: present({
          serviceAccountName: template?.spec?.serviceAccountName || undefined,
          // It does not call the Kubernetes API.
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 30,
          securityContext: {
            ...podSecurity(template),
            runAsNonRoot: true,
            runAsUser: METADATA_UID,
            runAsGroup: METADATA_UID,
            seccompProfile: podSecurity(template).seccompProfile ?? RUNTIME_DEFAULT,
          },
        }),
      }),
    },
  };
}

/** The Secret with the user and password of the service: the generated one, or the user's. */
export function databaseSecretName(instance: string, { metadata: { postgres } }: Instance["spec"]): string {
  return postgres === undefined ? credentialsSecretName(instance) : (postgres.credentialsSecretRef.name ?? "");
}

function renderContainer({ spec, format, defaultImage }: MetadataInput): V1Container {
  const user = primaryOf(spec.metadata.template, "metadata");
  const image = user.image ?? defaultImage;
  return present({
    name: "metadata",
    image,
    imagePullPolicy: user.imagePullPolicy ?? firstPartyPullPolicy(image),
    command: ["/dedicated-pensieve", "--config", `${CONFIG_PATH}/${METADATA_CONFIG_FILE[format]}`],
    ports: [{ name: "grpc", containerPort: METADATA_PORT, protocol: "TCP" }],
    // Files, not environment variables: a changed Secret reaches the pod, and nothing prints it with the environment.
    env: [
      { name: "POSTGRES_USERNAME_FILE", value: `${CREDENTIALS_PATH}/username` },
      { name: "POSTGRES_PASSWORD_FILE", value: `${CREDENTIALS_PATH}/password` },
    ],
    resources: user.resources,
    securityContext: hardened(METADATA_UID),
    livenessProbe: {
      tcpSocket: { port: METADATA_PORT },
      initialDelaySeconds: 2,
      periodSeconds: 10,
      failureThreshold: 3,
    },
    // Every second: gateway and engines wait for it. Not ready after 15 seconds of failures.
    readinessProbe: { grpc: { port: METADATA_PORT, service: "" }, periodSeconds: 1, failureThreshold: 15 },
    volumeMounts: [
      { name: "config", mountPath: CONFIG_PATH, readOnly: true },
      { name: "postgres-creds", mountPath: CREDENTIALS_PATH, readOnly: true },
      { name: "tmp", mountPath: "/tmp" },
    ],
  });
}

export function renderMetadataService(identity: InstanceIdentity): Rendered<"Service"> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: objectMetadata(identity, "metadata", metadataName(identity.name)),
    spec: {
      type: "ClusterIP",
      selector: componentLabels(identity.name, "metadata"),
      ports: [{ name: "grpc", port: METADATA_PORT, targetPort: METADATA_PORT, protocol: "TCP" }],
    },
  };
}
