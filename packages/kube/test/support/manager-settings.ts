// Settings of a manager process, as JSON on its command line.
import type { ElectionTiming } from "../../src/election/timing.ts";

export interface ManagerSettings {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly lease: string;
  readonly identity: string;
  readonly timing: ElectionTiming;
  readonly shutdownTimeoutMs: number;
  /**
   * `write`: one ConfigMap per pass. `block`: the same, but once the event loop is blocked for longer than the lease.
   * `hold`: every pass lasts until its signal. `stubborn`: it ignores even that.
   */
  readonly work: "write" | "block" | "hold" | "stubborn";
}

export function parseManagerSettings(text: string): ManagerSettings {
  const settings: unknown = JSON.parse(text);
  if (!isManagerSettings(settings)) throw new TypeError(`not the settings of a manager process: ${text}`);
  return settings;
}

function isManagerSettings(value: unknown): value is ManagerSettings {
  return typeof value === "object" && value !== null && "kubeconfig" in value && "timing" in value && "work" in value;
}
