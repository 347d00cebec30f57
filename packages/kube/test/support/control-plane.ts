// A separate control plane, for tests that stop servers or compact etcd.
import { inject } from "vitest";
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane as start,
} from "../../src/testing/control-plane/control-plane.ts";

export function startControlPlane(options: Omit<ControlPlaneOptions, "binaries"> = {}): Promise<ControlPlane> {
  return start({ ...options, binaries: inject("binaries") });
}
