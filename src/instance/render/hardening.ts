// What makes a pod pass Pod Security "restricted": no root, nothing writable but volumes, no way to more rights, the runtime's
// own seccomp profile.
import type { V1SeccompProfile, V1SecurityContext } from "../../api/generated/kubernetes.ts";

export const RUNTIME_DEFAULT: V1SeccompProfile = { type: "RuntimeDefault" };

/** The container runs as the user that its image was built for. */
export function hardened(user: number): V1SecurityContext {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
  };
}
