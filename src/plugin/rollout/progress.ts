// How far an engine is on the way to the state that its spec requests: a share of the whole and a sentence. Pure.
import { engineReadyRow } from "../../api/reasons.ts";
import type { EngineView } from "../status/engine-view.ts";

export interface RolloutProgress {
  readonly state: "done" | "stuck" | "moving";
  /** From 0 to 1. */
  readonly share: number;
  readonly text: string;
}

/** The share at which each phase begins: pods take longest, then queries. */
const BEGINS = { creating: 0.05, switching: 0.6, draining: 0.65, cleaning: 0.95 } as const;

export function rolloutProgress(engine: EngineView): RolloutProgress {
  if (isDone(engine)) return { state: "done", share: 1, text: doneText(engine) };
  const { waits } = engine;
  const isStuck =
    waits !== undefined &&
    (engineReadyRow(waits.reason)?.isStuck === true || waits.next !== undefined) &&
    waits.reason !== "Draining";
  return {
    state: isStuck ? "stuck" : "moving",
    share: shareOf(engine),
    text: waits?.why ?? "the operator is reconciling",
  };
}

function isDone({ phase, ready, upToDate }: EngineView): boolean {
  return upToDate && (phase === "stopped" || (phase === "stable" && ready?.status === "True"));
}

function doneText({ phase, generations }: EngineView): string {
  if (phase === "stopped") return "stopped";
  const serving = generations.find(({ serves }) => serves);
  return serving === undefined
    ? "rolled out"
    : `generation ${serving.generation} serves with ${serving.ready} of ${serving.wanted} pods ready`;
}

function shareOf({ phase, generations }: EngineView): number {
  switch (phase) {
    case "creating": {
      const starting = generations.find(({ role }) => role === "starting");
      const ready = starting === undefined ? 0 : part(starting.ready, starting.wanted);
      return BEGINS.creating + ready * (BEGINS.switching - BEGINS.creating);
    }
    case "switching":
      return BEGINS.switching;
    case "draining": {
      const pods = generations.find(({ role }) => role === "draining")?.pods ?? [];
      const quiet = pods.filter(({ queries }) => queries?.type === "read" && queries.queries === 0).length;
      return BEGINS.draining + part(quiet, pods.length) * (BEGINS.cleaning - BEGINS.draining);
    }
    case "cleaning":
      return BEGINS.cleaning;
    default:
      return 0;
  }
}

const part = (done: number, all: number): number => (all === 0 ? 1 : Math.min(1, done / all));
