// What makes a pod pass Pod Security "restricted": no root, nothing writable but volumes, no way to more rights, the
// runtime's own seccomp profile.
import type { V1SeccompProfile, V1SecurityContext } from "../../api/generated/kubernetes.ts";

export const RUNTIME_DEFAULT: V1SeccompProfile = { type: "RuntimeDefault" };

/** What the command line says of the gateway's containers. `none` leaves them as the runtime has them. */
export type ComponentSeccomp = "none" | "RuntimeDefault";

export function seccompOf(setting: ComponentSeccomp): V1SeccompProfile | undefined {
  return setting === "none" ? undefined : RUNTIME_DEFAULT;
}

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
