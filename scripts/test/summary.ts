// What a run of the suite reports at its end: what each project cost, and the files that took longest.
import type { Ran } from "./lane-process.ts";
import type { FileResult } from "./messages.ts";

const SLOWEST = 12;

export interface RunTotals {
  readonly wallSeconds: number;
  /** Of everything that the run has started. */
  readonly processorSeconds: number;
  readonly lanes: string;
}

/** One row per project, and one for the run: tests, wall seconds (the sum over files) and processor seconds. */
export function summarise(ran: readonly Ran[], { wallSeconds, processorSeconds, lanes }: RunTotals): string {
  const rows = [...Map.groupBy(ran, ({ task }) => task.project)].map(([project, tasks]) => {
    const files = tasks.flatMap(({ result }) => result.files);
    return row(project, {
      files,
      wall: sum(tasks, ({ result }) => result.wallSeconds),
      processor: sum(tasks, ({ result }) => result.processorSeconds),
    });
  });
  const all = ran.flatMap(({ result }) => result.files);
  return table([
    ["project", "files", "tests", "failed files", "wall s", "processor s"],
    ...rows,
    row(`all (${lanes})`, { files: all, wall: wallSeconds, processor: processorSeconds }),
  ]);
}

/** Single files alone: those that are run together share one measurement. */
export function slowestFiles(ran: readonly Ran[]): string {
  const single = ran
    .filter(({ task }) => task.paths.length === 1)
    .toSorted((one, other) => other.result.wallSeconds - one.result.wallSeconds)
    .slice(0, SLOWEST);
  return table([
    ["slowest files", "wall s", "processor s"],
    ...single.map(({ task, result }) => [
      task.paths.join(),
      result.wallSeconds.toFixed(0),
      result.processorSeconds.toFixed(0),
    ]),
  ]);
}

interface Cost {
  readonly files: readonly FileResult[];
  readonly wall: number;
  readonly processor: number;
}

function row(name: string, { files, wall, processor }: Cost): readonly string[] {
  const counts = [files.length, sum(files, ({ tests }) => tests), files.filter(({ passed }) => !passed).length];
  return [name, ...counts.map(String), wall.toFixed(0), processor.toFixed(0)];
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0);

/** The first column to the left, numbers to the right. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
