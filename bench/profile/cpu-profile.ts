// Sums up a V8 CPU profile: each sample counts for the running function, and that function for its part of the program.
import type { SourceMap } from "node:module";
import { addTo, largestShares, type Share } from "./shares.ts";

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** Both from zero. */
  readonly lineNumber: number;
  readonly columnNumber: number;
}

const IDLE = "(idle)";
const FUNCTIONS = 20;
const AREAS = 20;

export function summarizeCpu(profile: CpuProfile, sources: SourceMap): Readonly<Record<string, readonly Share[]>> {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const areas = new Map<string, number>();
  const functions = new Map<string, number>();
  for (const [index, id] of profile.samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === IDLE) continue;
    const seconds = (profile.timeDeltas[index] ?? 0) / 1_000_000;
    const file = fileOf(frame, sources);
    addTo(areas, areaOf(frame, file), seconds);
    addTo(functions, `${frame.functionName || "(anonymous)"}  ${file}`.trimEnd(), seconds);
  }
  return {
    "seconds by part": largestShares(areas, AREAS),
    "seconds by function": largestShares(functions, FUNCTIONS),
  };
}

/** The source file of a function of the bundle; Node's own modules by name; empty for V8 itself. */
function fileOf({ url, lineNumber, columnNumber }: CallFrame, sources: SourceMap): string {
  if (!url.endsWith(".mjs")) return url;
  const entry = sources.findEntry(lineNumber, columnNumber);
  return "originalSource" in entry ? entry.originalSource.replace(/^(\.\.\/)+/, "") : "the bundle itself";
}

function areaOf({ functionName }: CallFrame, file: string): string {
  if (functionName === "(garbage collector)") return "garbage collection";
  const [first = "", second = ""] = file.replace(/^.*node_modules\//, "node_modules/").split("/");
  if (first.startsWith("node:")) return "Node: HTTP, TLS, streams, timers";
  if (first === "" || first === "the bundle itself") return "V8 and native code";
  return `${first}/${second}`;
}
