// The pod template of one generation and the volume behind its data directory.
import type { V1PersistentVolumeClaim, V1PodTemplateSpec, V1Volume } from "../../api/generated/kubernetes.ts";
import { nonEmptyMap, present } from "../../podtemplate/present.ts";
import { configMapName, type EngineIdentity } from "../model/names.ts";
import { TERMINATION_GRACE_SECONDS, VOLUME } from "../model/pod-contract.ts";
import type { EffectiveEngine } from "../resolve/effective-engine.ts";
import type { EffectiveStorage } from "../resolve/storage.ts";
import { renderEngineContainer } from "./engine-container.ts";
import { generationLabels } from "./metadata.ts";

export function renderPodTemplate(
  engine: EngineIdentity,
  effective: EffectiveEngine,
  generation: number,
): V1PodTemplateSpec {
  const { pod, container, storage } = effective;
  const data = renderDataVolume(storage);
  return {
    metadata: present({
      labels: { ...pod.labels, ...generationLabels(engine.name, generation) },
      annotations: nonEmptyMap({ ...pod.annotations }),
    }),
    spec: {
      terminationGracePeriodSeconds: TERMINATION_GRACE_SECONDS,
      enableServiceLinks: false,
      securityContext: pod.securityContext,
      ...pod.fields,
      containers: [renderEngineContainer(container), ...pod.sidecars],
      volumes: [
        { name: VOLUME.config, configMap: { name: configMapName(engine.name, generation) } },
        { name: VOLUME.runtime, emptyDir: {} },
        ...(data === undefined ? [] : [data]),
        ...pod.volumes,
      ],
    },
  };
}

/** The pod volume of the data directory; none when it comes from a claim. */
function renderDataVolume(storage: EffectiveStorage): V1Volume | undefined {
  switch (storage.type) {
    case "emptyDir":
      return {
        name: VOLUME.data,
        emptyDir: present({ medium: storage.medium, sizeLimit: storage.sizeLimit }),
      };
    case "hostPath":
      return { name: VOLUME.data, hostPath: present({ path: storage.path, type: storage.pathType }) };
    case "persistentVolumeClaim":
      return undefined;
    default:
      return storage satisfies never;
  }
}

/** The claim template of the data directory; none unless the backend is a claim. */
export function renderClaimTemplates(
  storage: EffectiveStorage,
  labels: Record<string, string>,
): V1PersistentVolumeClaim[] | undefined {
  if (storage.type !== "persistentVolumeClaim") return undefined;
  const { size, accessModes, storageClassName } = storage;
  return [
    {
      metadata: { name: VOLUME.data, labels },
      spec: present({
        accessModes: [...accessModes],
        resources: { requests: { storage: size } },
        storageClassName,
      }),
    },
  ];
}
