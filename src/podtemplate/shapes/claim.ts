// Normal form of a volume claim inside a pod (an ephemeral volume), with the API server's defaults.
import type {
  V1EphemeralVolumeSource,
  V1PersistentVolumeClaimSpec,
  V1PersistentVolumeClaimTemplate,
  V1TypedLocalObjectReference,
  V1TypedObjectReference,
  V1VolumeResourceRequirements,
} from "../../api/generated/kubernetes.ts";
import { labelSelector } from "./selector.ts";
import { embedded, object, pointer, pointerOr, resourceList, scalar, scalars, texts } from "./shape.ts";

const claimSpec = embedded<V1PersistentVolumeClaimSpec>({
  accessModes: scalars,
  dataSource: object<V1TypedLocalObjectReference>({ apiGroup: pointer, kind: scalar, name: scalar }),
  dataSourceRef: object<V1TypedObjectReference>({ apiGroup: pointer, kind: scalar, name: scalar, namespace: pointer }),
  resources: embedded<V1VolumeResourceRequirements>({ limits: resourceList, requests: resourceList }),
  selector: labelSelector,
  storageClassName: pointer,
  volumeAttributesClassName: pointer,
  volumeMode: pointerOr("Filesystem"),
  volumeName: scalar,
});

/** Of a template's metadata the API server accepts labels and annotations only. */
const templateMetadata = embedded<{ labels: unknown; annotations: unknown }>({ annotations: texts, labels: texts });

export const ephemeral = object<V1EphemeralVolumeSource>({
  volumeClaimTemplate: object<V1PersistentVolumeClaimTemplate>({ metadata: templateMetadata, spec: claimSpec }),
});
