// Resource usage of a process as counted by the Linux kernel: processor time since its start, current and peak resident
// memory. Reads /proc only.
import { readFileSync, writeFileSync } from "node:fs";

export interface Memory {
  readonly rssMb: number;
  /** The highest since the process started or `reset` was called. */
  readonly peakRssMb: number;
  /** The part that no file backs: what the process itself has allocated. */
  readonly anonymousMb: number;
}

export interface ProcessMeter {
  readonly pid: number;
  cpuSeconds(): number;
  memory(): Memory;
  /** Restarts the measurement of the peak. */
  resetPeak(): void;
}

/** The kernel counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

export function meterProcess(pid: number): ProcessMeter {
  return {
    pid,
    cpuSeconds() {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The name in the second field may hold blanks and brackets.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    memory() {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const megabytes = (field: string): number =>
        round((Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? Number.NaN) * 1_024) / 1e6);
      return { rssMb: megabytes("VmRSS"), peakRssMb: megabytes("VmHWM"), anonymousMb: megabytes("RssAnon") };
    },
    resetPeak() {
      // See proc_pid_clear_refs(5): 5 sets the high-water mark to what is resident now.
      writeFileSync(`/proc/${pid}/clear_refs`, "5");
    },
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;
