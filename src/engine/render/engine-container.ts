// The engine container: the operator's part (command, ports, probes, its variables and mounts first) around the user's.

import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import type {
  V1Container,
  V1EnvVar,
  V1LifecycleHandler,
  V1Probe,
  V1VolumeMount,
} from "../../api/generated/kubernetes.ts";
import { present } from "../../podtemplate/present.ts";
import {
  CONFIG_FILE,
  ENGINE_CONTAINER,
  ENGINE_PORTS,
  ENV,
  HEALTH_PORT,
  MOUNT_PATH,
  PRE_STOP_SECONDS,
  VOLUME,
} from "../model/pod-contract.ts";
import type { EffectiveContainer } from "../resolve/engine-container.ts";
import { START_SCRIPT } from "./start-script.ts";

const { live: LIVE, ready: READY } = ENGINE_CONTRACT.endpoints;

export function renderEngineContainer(effective: EffectiveContainer): V1Container {
  const { env = [], volumeMounts = [] } = effective;
  return present({
    name: ENGINE_CONTAINER,
    image: effective.image,
    imagePullPolicy: effective.imagePullPolicy,
    command: ["/bin/bash", "-c"],
    args: [START_SCRIPT],
    workingDir: effective.workingDir,
    ports: ENGINE_PORTS.map(({ name, port }) => ({ name, containerPort: port, protocol: "TCP" })),
    envFrom: effective.envFrom,
    env: [...operatorEnv(), ...env],
    resources: effective.resources,
    resizePolicy: effective.resizePolicy,
    volumeMounts: [...operatorMounts(), ...volumeMounts],
    volumeDevices: effective.volumeDevices,
    livenessProbe: probe(LIVE, { initialDelaySeconds: 2, periodSeconds: 5, failureThreshold: 6 }),
    // Every second, because a query that wakes the engine waits for both: 18 seconds of failing responses until the pod
    // gets no more queries, 150 seconds to come up. No delay: the kubelet probes readiness as soon as the container has
    // started up, and a delay would skip that probe.
    readinessProbe: probe(READY, { periodSeconds: 1, failureThreshold: 18 }),
    startupProbe: probe(LIVE, { periodSeconds: 1, failureThreshold: 150 }),
    lifecycle: { ...effective.lifecycle, preStop: effective.lifecycle?.preStop ?? PAUSE },
    terminationMessagePath: effective.terminationMessagePath,
    terminationMessagePolicy: effective.terminationMessagePolicy,
    securityContext: effective.securityContext,
  });
}

/**
 * A hook of the template takes its place. A command, and not the sleep action: Kubernetes 1.29 rejects that, and an
 * upgrade of the cluster must not roll engines. The image has the shell: the engine is started with it.
 */
const PAUSE: V1LifecycleHandler = { exec: { command: ["/bin/bash", "-c", `exec sleep ${PRE_STOP_SECONDS}`] } };

function operatorEnv(): V1EnvVar[] {
  return [
    {
      name: ENV.podIndex,
      valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } },
    },
    // Lets the AWS SDK find the credentials of the service account or the machine.
    { name: ENV.awsMetadata, value: "true" },
  ];
}

function operatorMounts(): V1VolumeMount[] {
  return [
    { name: VOLUME.data, mountPath: MOUNT_PATH.data },
    // A subPath mount never refreshes: pods keep the configuration that they started with.
    { name: VOLUME.config, mountPath: MOUNT_PATH.config, subPath: CONFIG_FILE, readOnly: true },
    { name: VOLUME.runtime, mountPath: MOUNT_PATH.runtime },
  ];
}

/** Health is served in plain HTTP, whatever the query port speaks. */
function probe(
  path: string,
  timing: Pick<V1Probe, "initialDelaySeconds" | "periodSeconds" | "failureThreshold">,
): V1Probe {
  return { httpGet: { path, port: HEALTH_PORT, scheme: "HTTP" }, timeoutSeconds: 3, ...timing };
}
