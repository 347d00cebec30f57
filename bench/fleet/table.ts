// Renders figures as a table with fixed columns, and the requests of a phase as one line. Pure.
import { type Counts, total } from "./audit-counter.ts";
import { BUDGET, PEAK_RSS_MB } from "./budget.ts";
import { PHASES, type Phase, type PhaseResult } from "./phases.ts";

export interface TableInput {
  readonly name: string;
  readonly engines: number;
  readonly floor: { readonly createSeconds: number; readonly deleteSeconds: number };
  readonly phases: Readonly<Record<Phase, PhaseResult>>;
}

export function renderTable({ name, engines, floor, phases }: TableInput): string {
  const head = ["phase", "wall s", "floor s", "req/engine", "CPU s", "CPU ms/engine", "peak MB", "load"];
  const isBudgeted = engines === 200;
  const rows = PHASES.map((phase) => {
    const { wallSeconds, cpuSeconds, peakRssMb, requests, loadAverage } = phases[phase];
    const budget = BUDGET[phase];
    const perEngine = phase === "idle" ? total(requests.work) : total(requests.work) / engines;
    return [
      phase,
      withBudget(wallSeconds, 1, wallBudget(phase, floor)),
      phase === "create" || phase === "delete" ? floor[`${phase}Seconds`].toFixed(1) : "",
      withBudget(perEngine, 2, budget.requests),
      withBudget(cpuSeconds, 2, isBudgeted ? budget.cpu : undefined),
      phase === "idle" ? "" : ((cpuSeconds * 1_000) / engines).toFixed(1),
      withBudget(peakRssMb, 1, isBudgeted ? PEAK_RSS_MB : undefined),
      loadAverage.toFixed(2),
    ];
  });
  const details = PHASES.map((phase) => {
    const { work, watches, lease, serving, refused } = phases[phase].requests;
    const parts = [
      describe(work, phase === "idle" ? 1 : engines),
      `watches ${total(watches)}`,
      `lease ${total(lease)}`,
      `serving ${total(serving)}`,
      ...(total(refused) > 0 ? [`refused: ${describe(refused, 1)}`] : []),
    ];
    return `  ${phase}: ${parts.filter((part) => part !== "").join("; ")}`;
  });
  const everybody = PHASES.map((phase) => {
    const { requestsOfAll } = phases[phase];
    const divisor = phase === "idle" ? 1 : engines;
    return `  ${phase}: ${Number((total(requestsOfAll) / divisor).toFixed(1))}: ${describe(requestsOfAll, divisor)}`;
  });
  const cluster = PHASES.map((phase) => {
    const parts = Object.entries(phases[phase].clusterCpuSeconds).map(
      ([what, seconds]) => `${what} ${seconds.toFixed(1)}`,
    );
    return `  ${phase}: ${parts.join(", ")}`;
  });
  const title = `${name}, ${engines} engines (in brackets: the budget)`;
  return [
    title,
    columns([head, ...rows]),
    "requests per engine:",
    ...details,
    "requests of all clients per engine, as the API server counts them:",
    ...everybody,
    "processor time of the other programs, in seconds:",
    ...cluster,
  ].join("\n");
}

const withBudget = (value: number, digits: number, budget: number | undefined): string =>
  budget === undefined ? value.toFixed(digits) : `${value.toFixed(digits)} (${budget})`;

function wallBudget(phase: Phase, floor: TableInput["floor"]): number | undefined {
  const { floors } = BUDGET[phase];
  if (floors === undefined) return undefined;
  return floors * (phase === "delete" ? floor.deleteSeconds : floor.createSeconds);
}

/** `3 patch fireboltengines/status, 1 create services` */
export function describe(counts: Counts, divisor: number): string {
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return sorted.map(([what, count]) => `${Number((count / divisor).toFixed(2))} ${what}`).join(", ");
}

/** The first column to the left, the others to the right. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
