// The user's part of the engine container: operator default < class < engine. The operator's own entries (variables,
// mounts, ports, probes, command) are added when the pod is rendered.

import type { V1Container, V1SecurityContext } from "../../api/generated/kubernetes.ts";
import type { EngineSeccomp, OperatorDefaults } from "../../api/operator-defaults.ts";
import { firstPartyPullPolicy } from "../../podtemplate/image-reference.ts";
import { nonEmpty, present } from "../../podtemplate/present.ts";
import { hasResources } from "../model/has-resources.ts";
import { ENGINE_USER, ENV, MOUNT_PATH, VOLUME } from "../model/pod-contract.ts";
import { byName, concat, concatKeyed } from "./merge-lists.ts";

const OWNED_ENV: ReadonlySet<string> = new Set(Object.values(ENV));
const OWNED_MOUNT_PATHS: ReadonlySet<string> = new Set(Object.values(MOUNT_PATH));
const UNMOUNTABLE: ReadonlySet<string> = new Set([VOLUME.config, VOLUME.data]);

/** What the operator does not set itself, in the order in which it is rendered. */
export type EffectiveContainer = Pick<
  V1Container,
  | "workingDir"
  | "env"
  | "envFrom"
  | "volumeMounts"
  | "volumeDevices"
  | "resizePolicy"
  | "lifecycle"
  | "terminationMessagePath"
  | "terminationMessagePolicy"
> &
  Required<Pick<V1Container, "image" | "imagePullPolicy" | "resources" | "securityContext">>;

type Layer = V1Container | undefined;

export function resolveEngineContainer(
  ofClass: Layer,
  ofEngine: Layer,
  defaults: OperatorDefaults,
): EffectiveContainer {
  const image = ofEngine?.image || ofClass?.image || defaults.images.engine;
  return present({
    image,
    imagePullPolicy: ofEngine?.imagePullPolicy || ofClass?.imagePullPolicy || firstPartyPullPolicy(image),
    workingDir: ofEngine?.workingDir || ofClass?.workingDir || undefined,
    env: nonEmpty(concatKeyed(ofClass?.env, ofEngine?.env, byName).filter(({ name }) => !OWNED_ENV.has(name))),
    envFrom: nonEmpty(concat(ofClass?.envFrom, ofEngine?.envFrom)),
    resources: resolveResources(ofClass, ofEngine),
    resizePolicy: nonEmpty(
      concatKeyed(ofClass?.resizePolicy, ofEngine?.resizePolicy, ({ resourceName }) => resourceName),
    ),
    volumeMounts: nonEmpty(
      concatKeyed(ofClass?.volumeMounts, ofEngine?.volumeMounts, ({ mountPath }) => mountPath).filter(
        ({ name, mountPath }) => !UNMOUNTABLE.has(name) && !OWNED_MOUNT_PATHS.has(mountPath),
      ),
    ),
    volumeDevices: nonEmpty(
      concatKeyed(ofClass?.volumeDevices, ofEngine?.volumeDevices, ({ devicePath }) => devicePath),
    ),
    lifecycle: ofEngine?.lifecycle ?? ofClass?.lifecycle ?? undefined,
    terminationMessagePath: ofEngine?.terminationMessagePath || ofClass?.terminationMessagePath || undefined,
    terminationMessagePolicy: ofEngine?.terminationMessagePolicy || ofClass?.terminationMessagePolicy || undefined,
    securityContext: ofEngine?.securityContext ?? ofClass?.securityContext ?? hardenedContext(defaults.engineSeccomp),
  });
}

/** The whole block of the engine if it requests anything, else of the class. */
export function resolveResources(ofClass: Layer, ofEngine: Layer): NonNullable<V1Container["resources"]> {
  if (hasResources(ofEngine)) return ofEngine?.resources ?? {};
  return hasResources(ofClass) ? (ofClass?.resources ?? {}) : {};
}

function hardenedContext(seccomp: EngineSeccomp): V1SecurityContext {
  return present({
    runAsNonRoot: true,
    runAsUser: ENGINE_USER,
    runAsGroup: ENGINE_USER,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    seccompProfile: seccompProfile(seccomp),
  });
}

function seccompProfile(seccomp: EngineSeccomp): V1SecurityContext["seccompProfile"] | undefined {
  if (seccomp === "none") return undefined;
  if (seccomp === "RuntimeDefault") return { type: "RuntimeDefault" };
  return { type: "Localhost", localhostProfile: seccomp.slice("Localhost:".length) };
}
