// What the stand-in engines of a local cluster report in their logs: every scrape of their metrics with its values, and the beginning and
// end of every query that takes time. Read from the node's log files, which stay readable after the pod is gone.
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { QUERY_KINDS, type QueryKind } from "../../../src/api/engine-contract.ts";

const POLL_MS = 200;
const CHUNK_BYTES = 65_536;
/** Of the engine in its pods. */
const CONTAINER = "engine";

interface Reported {
  readonly pod: string;
  readonly uid: string;
  /** Milliseconds since the epoch, by the engine's own clock: the machine has one. */
  readonly atMs: number;
}
/** The value of one gauge. */
export type QueryCount = readonly [kind: QueryKind, count: number];
export type EngineReport =
  | (Reported & { readonly type: "scraped"; readonly queries: readonly QueryCount[] })
  | (Reported & { readonly type: "began" | "ended"; readonly label: string; readonly durationMs: number });

export interface EngineReports extends AsyncDisposable {
  /** Everything so far, read up to this moment. */
  all(): Promise<readonly EngineReport[]>;
}

/** `folder` is the cluster's. Follows all engines of the namespace until it is disposed of. */
export function followEngineReports(folder: string, namespace: string): EngineReports {
  const logs = join(folder, "pod-logs");
  const stop = new AbortController();
  const files = new Map<string, LogFile>();
  const reports: EngineReport[] = [];
  let reading = Promise.resolve();
  const read = (): Promise<void> => {
    reading = reading.then(() => readAll({ logs, namespace, files, reports }));
    return reading;
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await read();
      await sleep(POLL_MS);
    }
  };
  const running = run();
  return {
    async all() {
      await read();
      return reports.toSorted((a, b) => a.atMs - b.atMs);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      for (const { handle } of files.values()) await handle.close();
    },
  };
}

interface LogFile {
  readonly handle: FileHandle;
  readonly pod: string;
  readonly uid: string;
  /** The beginning of a line whose end is not there yet. */
  rest: string;
}

interface Reading {
  readonly logs: string;
  readonly namespace: string;
  readonly files: Map<string, LogFile>;
  readonly reports: EngineReport[];
}

async function readAll({ logs, namespace, files, reports }: Reading): Promise<void> {
  for (const name of await entriesOf(logs)) {
    const [where, pod = "", uid = ""] = name.split("_");
    if (where !== namespace) continue;
    for (const file of await entriesOf(join(logs, name, CONTAINER))) {
      const path = join(logs, name, CONTAINER, file);
      if (files.has(path)) continue;
      const handle = await unlessGone(() => open(path));
      if (handle !== undefined) files.set(path, { handle, pod, uid, rest: "" });
    }
  }
  for (const file of files.values()) reports.push(...(await readOn(file)));
}

async function readOn(file: LogFile): Promise<readonly EngineReport[]> {
  const { handle, pod, uid } = file;
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES);
    if (bytesRead === 0) break;
    // The stand-in writes ASCII: no character is cut in two.
    file.rest += buffer.toString("latin1", 0, bytesRead);
  }
  const lines = file.rest.split("\n");
  file.rest = lines.pop() ?? "";
  return lines.flatMap((line) => parseReport(line, pod, uid));
}

/** `TIME stdout F {"message":…}`; everything else the engine logs is none of this. */
export function parseReport(line: string, pod: string, uid: string): readonly EngineReport[] {
  const json = line.indexOf("{");
  if (json < 0) return [];
  const parsed: unknown = JSON.parse(line.slice(json));
  if (typeof parsed !== "object" || parsed === null) return [];
  const field = (name: string): unknown => Reflect.get(parsed, name);
  const base = { pod, uid, atMs: Number(field("atMs")) };
  const message = field("message");
  if (message === "scraped")
    return [{ ...base, type: "scraped", queries: QUERY_KINDS.map((kind) => [kind, Number(field(kind))]) }];
  if (message !== "query began" && message !== "query ended") return [];
  const type = message === "query began" ? "began" : "ended";
  return [{ ...base, type, label: String(field("label")), durationMs: Number(field("durationMs")) }];
}

const entriesOf = async (folder: string): Promise<readonly string[]> => (await unlessGone(() => readdir(folder))) ?? [];

/** Pods come and go between two looks. */
async function unlessGone<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
