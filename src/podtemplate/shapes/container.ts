// Normal form of a container, with the API server's defaults, and of those of its fields that are compared on their
// own.
import type {
  V1ConfigMapEnvSource,
  V1ConfigMapKeySelector,
  V1Container,
  V1ContainerPort,
  V1ContainerResizePolicy,
  V1ContainerRestartRule,
  V1ContainerRestartRuleOnExitCodes,
  V1EnvFromSource,
  V1EnvVar,
  V1EnvVarSource,
  V1FileKeySelector,
  V1ObjectFieldSelector,
  V1ResourceClaim,
  V1ResourceFieldSelector,
  V1ResourceRequirements,
  V1VolumeDevice,
  V1VolumeMount,
} from "../../api/generated/kubernetes.ts";
import { defaultPullPolicy } from "../image-reference.ts";
import { lifecycle, probe } from "./handler.ts";
import { containerSecurityContext } from "./security.ts";
import {
  embedded,
  type FieldShapes,
  listOf,
  object,
  pointer,
  pointerOr,
  quantityOrZero,
  resourceList,
  scalar,
  scalarOr,
  scalars,
} from "./shape.ts";

export const fieldRef = object<V1ObjectFieldSelector>({ apiVersion: scalarOr("v1"), fieldPath: scalar });
export const resourceFieldRef = object<V1ResourceFieldSelector>({
  containerName: scalar,
  divisor: quantityOrZero,
  resource: scalar,
});
const keyRef = object<V1ConfigMapKeySelector>({ key: scalar, name: scalar, optional: pointer });
const envSource = object<V1ConfigMapEnvSource>({ name: scalar, optional: pointer });

export const REQUIREMENTS: FieldShapes<V1ResourceRequirements> = {
  claims: listOf(object<V1ResourceClaim>({ name: scalar, request: scalar })),
  limits: resourceList,
  requests: resourceList,
};

const restartRules = listOf(
  object<V1ContainerRestartRule>({
    action: scalar,
    exitCodes: object<V1ContainerRestartRuleOnExitCodes>({ operator: scalar, values: scalars }),
  }),
);

export const CONTAINER: FieldShapes<V1Container> = {
  args: scalars,
  command: scalars,
  env: listOf(
    object<V1EnvVar>({
      name: scalar,
      value: scalar,
      valueFrom: object<V1EnvVarSource>({
        configMapKeyRef: keyRef,
        fieldRef,
        fileKeyRef: object<V1FileKeySelector>({
          key: scalar,
          optional: pointerOr(false),
          path: scalar,
          volumeName: scalar,
        }),
        resourceFieldRef,
        secretKeyRef: keyRef,
      }),
    }),
  ),
  envFrom: listOf(object<V1EnvFromSource>({ configMapRef: envSource, prefix: scalar, secretRef: envSource })),
  image: scalar,
  imagePullPolicy: scalar,
  lifecycle,
  livenessProbe: probe,
  name: scalar,
  ports: listOf(
    object<V1ContainerPort>({
      containerPort: scalar,
      hostIP: scalar,
      hostPort: scalar,
      name: scalar,
      protocol: scalarOr("TCP"),
    }),
  ),
  readinessProbe: probe,
  resizePolicy: listOf(object<V1ContainerResizePolicy>({ resourceName: scalar, restartPolicy: scalar })),
  resources: embedded(REQUIREMENTS),
  restartPolicy: pointer,
  restartPolicyRules: restartRules,
  securityContext: containerSecurityContext,
  startupProbe: probe,
  stdin: scalar,
  stdinOnce: scalar,
  terminationMessagePath: scalarOr("/dev/termination-log"),
  terminationMessagePolicy: scalarOr("File"),
  tty: scalar,
  volumeDevices: listOf(object<V1VolumeDevice>({ devicePath: scalar, name: scalar })),
  volumeMounts: listOf(
    object<V1VolumeMount>({
      mountPath: scalar,
      mountPropagation: pointer,
      name: scalar,
      readOnly: scalar,
      recursiveReadOnly: pointer,
      subPath: scalar,
      subPathExpr: scalar,
    }),
  ),
  workingDir: scalar,
};

/** The pull policy of an image without one follows from its tag. */
export function fillPullPolicy(normal: Record<string, unknown>): void {
  const { image, imagePullPolicy } = normal;
  if (imagePullPolicy === undefined) {
    normal["imagePullPolicy"] = defaultPullPolicy(typeof image === "string" ? image : "");
  }
}

export const containers = listOf(object(CONTAINER, fillPullPolicy));
