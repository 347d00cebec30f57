// The performance budget (bench/NOTEBOOK.md, "The budget"). Wall times are multiples of the floor of the same run;
// counts and the idle line hold for any number of engines, the rest for 200.
import type { Phase } from "./phases.ts";

interface PhaseBudget {
  /** Wall time: this many times the floor of creating, or of deleting for the last phase. */
  readonly floors?: number;
  /** Per engine; for the idle phase in all. */
  readonly requests: number;
  /** Seconds of processor time. */
  readonly cpu?: number;
}

export const BUDGET: Readonly<Record<Phase, PhaseBudget>> = {
  create: { floors: 2, requests: 10, cpu: 3 },
  roll: { floors: 3, requests: 17, cpu: 5 },
  idle: { requests: 0, cpu: 0.3 },
  stop: { floors: 3, requests: 17 },
  delete: { floors: 1.5, requests: 6 },
};

export const PEAK_RSS_MB = 107;
