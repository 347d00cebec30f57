// The settings of an operator process, as JSON on the command line.
import type { ElectionTiming } from "@firebolt-operator/kube/election";

export interface OperatorProgramSettings {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly identity: string;
  /**
   * What to do at a write. `kill` sends SIGKILL as soon as that many writes are accepted (0: before the first);
   * `pause` sends SIGSTOP right before the write with that number.
   */
  readonly fault?: { readonly type: "kill" | "pause"; readonly at: number };
  /** Writes are counted from the start of the process, or from the signal SIGUSR2. */
  readonly countFrom: "start" | "signal";
  /** With a lease the process reconciles only while it leads. */
  readonly lease?: { readonly name: string; readonly timing: ElectionTiming };
  /** False: a lost lease does not stop writes, only preconditions do. */
  readonly fenced: boolean;
}

export function parseOperatorProgramSettings(text: string): OperatorProgramSettings {
  const settings: unknown = JSON.parse(text);
  if (!isSettings(settings)) throw new TypeError(`not the settings of an operator process: ${text}`);
  return settings;
}

const isSettings = (value: unknown): value is OperatorProgramSettings =>
  typeof value === "object" && value !== null && "kubeconfig" in value && "namespace" in value && "countFrom" in value;
