// One generation and its pods, as data, and the progress of its drain. Pure.
import type { PodQueries } from "./observe-platform.ts";

export type GenerationRole = "active" | "starting" | "draining" | "superseded";

export interface PodView {
  readonly name: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly node: string | undefined;
  readonly restarts: number;
  readonly createdAt: string | undefined;
  readonly problem: string | undefined;
  /** Of a draining pod only. */
  readonly queries: PodQueries | undefined;
}

export interface GenerationView {
  readonly generation: number;
  readonly role: GenerationRole;
  /** Whether the engine's Service sends queries to it. */
  readonly serves: boolean;
  readonly wanted: number;
  readonly ready: number;
  readonly createdAt: string | undefined;
  readonly pods: readonly PodView[];
}

/** Every pod has reported, and none runs a query. */
export const isQuiet = ({ pods }: GenerationView): boolean =>
  pods.length > 0 && pods.every(({ queries }) => queries?.type === "read" && queries.queries === 0);

/** How many queries a draining generation still runs, as a sentence. */
export function drainText({ generation, pods }: GenerationView): string {
  const reports = pods.flatMap(({ queries }) => queries ?? []);
  const unknown = reports.find((report) => report.type === "unknown");
  const running = reports.reduce((sum, report) => sum + (report.type === "read" ? report.queries : 0), 0);
  const busy = reports.filter((report) => report.type === "read" && report.queries > 0).length;
  const what = `generation ${generation}`;
  if (running > 0)
    return `${running} ${running === 1 ? "query runs" : "queries run"} on ${busy} of ${pods.length} pods of ${what}`;
  if (unknown?.type === "unknown") return `the number of running queries on ${what} is unknown: ${unknown.cause}`;
  return `no query is running on ${what}`;
}
