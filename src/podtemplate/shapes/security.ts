// Normal forms of pod and container security contexts. Every setting is a pointer: false and 0 are not the same as
// absent.
import type {
  V1AppArmorProfile,
  V1Capabilities,
  V1PodSecurityContext,
  V1SELinuxOptions,
  V1SeccompProfile,
  V1SecurityContext,
  V1Sysctl,
  V1WindowsSecurityContextOptions,
} from "../../api/generated/kubernetes.ts";
import { embedded, listOf, object, pointer, scalar, scalars } from "./shape.ts";

const appArmorProfile = object<V1AppArmorProfile>({ localhostProfile: pointer, type: scalar });
const seccompProfile = object<V1SeccompProfile>({ localhostProfile: pointer, type: scalar });
const seLinuxOptions = object<V1SELinuxOptions>({ level: scalar, role: scalar, type: scalar, user: scalar });
const windowsOptions = object<V1WindowsSecurityContextOptions>({
  gmsaCredentialSpec: pointer,
  gmsaCredentialSpecName: pointer,
  hostProcess: pointer,
  runAsUserName: pointer,
});

/** The server stores `{}` for an absent pod context. */
export const podSecurityContext = embedded<V1PodSecurityContext>({
  appArmorProfile,
  fsGroup: pointer,
  fsGroupChangePolicy: pointer,
  runAsGroup: pointer,
  runAsNonRoot: pointer,
  runAsUser: pointer,
  seLinuxChangePolicy: pointer,
  seLinuxOptions,
  seccompProfile,
  supplementalGroups: scalars,
  supplementalGroupsPolicy: pointer,
  sysctls: listOf(object<V1Sysctl>({ name: scalar, value: scalar })),
  windowsOptions,
});

export const containerSecurityContext = object<V1SecurityContext>({
  allowPrivilegeEscalation: pointer,
  appArmorProfile,
  capabilities: object<V1Capabilities>({ add: scalars, drop: scalars }),
  privileged: pointer,
  procMount: pointer,
  readOnlyRootFilesystem: pointer,
  runAsGroup: pointer,
  runAsNonRoot: pointer,
  runAsUser: pointer,
  seLinuxOptions,
  seccompProfile,
  windowsOptions,
});
