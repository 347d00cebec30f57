// Processor time of a tree of processes, from /proc: what test files cost, the servers that they start included.
import { readdirSync, readFileSync } from "node:fs";

/** One process as /proc/PID/stat shows it. */
export interface ProcessTimes {
  readonly parent: number;
  /** Clock ticks of the process itself and of its descendants that have exited and were waited for. */
  readonly ticks: number;
}

/** Linux reports times in hundredths of a second on every platform that Node runs on (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** Its name may contain spaces and brackets: fields are counted from the last one. */
export function parseProcessTimes(stat: string): ProcessTimes {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const number = (field: number): number => Number(fields[field - 3] ?? 0);
  return { parent: number(4), ticks: number(14) + number(15) + number(16) + number(17) };
}

/** Seconds of the process and all of its descendants. Grows only: who exits is counted with the process that waited for it. */
export function processorSeconds(root: number, all: ReadonlyMap<number, ProcessTimes> = readAllTimes()): number {
  const children = Map.groupBy(all.keys(), (pid) => all.get(pid)?.parent ?? 0);
  const ticks = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + ticks(child), all.get(pid)?.ticks ?? 0);
  return ticks(root) / TICKS_PER_SECOND;
}

function readAllTimes(): ReadonlyMap<number, ProcessTimes> {
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readStat(name);
      return stat === undefined ? [] : [[Number(name), parseProcessTimes(stat)] as const];
    });
  return new Map(found);
}

function readStat(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ESRCH"].includes(String(error.code))) return undefined;
    throw error;
  }
}
