// The security settings of Pod Security "restricted": no root, only volumes writable, no privilege escalation, the
// runtime's default seccomp profile.
import type { V1SeccompProfile, V1SecurityContext } from "../../api/generated/kubernetes.ts";

export const RUNTIME_DEFAULT: V1SeccompProfile = { type: "RuntimeDefault" };

/** The flag for the gateway's containers. `none` leaves the runtime's default. */
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
