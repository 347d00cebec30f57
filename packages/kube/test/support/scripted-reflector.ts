// A reflector with scripted I/O: what each connection and each page delivers, in order. At the end of the script the
// reflector is stopped. The store, the scope and the refresh requests are real.
import { runReflector } from "../../src/cache/reflector/reflector.ts";
import { RefreshRequests } from "../../src/cache/reflector/refresh-requests.ts";
import type { ReflectorEvent, ReflectorIo, ReflectorNote } from "../../src/cache/reflector/states.ts";
import { StoreScope } from "../../src/cache/store-scope.ts";
import { type ApiStatus, KubeApiError, KubeConnectionError } from "../../src/core/errors.ts";
import { untilAborted } from "../../src/core/until-aborted.ts";
import { type ConfigMap, entry, held, recordingStore } from "./cache-fixtures.ts";

type Event = ReflectorEvent<ConfigMap>;
/** "silence" lasts until a refresh is requested; a function is called, and the next entry follows at once. */
type Aside = "silence" | Error | (() => void);
type Happening = Event | "end" | Aside;

function isAside(next: unknown): next is Aside {
  return next === "silence" || next instanceof Error || typeof next === "function";
}

type PageAnswer = {
  readonly entries: readonly (readonly [string, number])[];
  readonly version: string;
  readonly token?: string;
};

export const put = (key: string, version: number): Event => ({ type: "put", entry: entry(key, version) });
export const remove = (key: string, version: number): Event => ({ type: "remove", entry: entry(key, version) });
export const bookmark = (version: number): Event => ({ type: "bookmark", version: String(version), initialEnd: false });
export const initialEnd = (version: number): Event => ({
  type: "bookmark",
  version: String(version),
  initialEnd: true,
});
export const refused = (status: number, body: ApiStatus = {}): KubeApiError => new KubeApiError("watch", status, body);
export const broken = new KubeConnectionError("connection reset");

export interface Script {
  /** What each connection delivers, in the order in which they are opened. */
  readonly connections?: readonly (readonly Happening[])[];
  readonly pages?: readonly (PageAnswer | Aside)[];
  /** Every wait lasts until a refresh is requested. */
  readonly longWaits?: boolean;
  readonly currentVersion?: string;
  readonly streaming?: boolean;
  readonly optional?: boolean;
  /** How long each event takes to arrive. */
  readonly eventMs?: number;
}

export function scripted(script: Script) {
  const { store, emitted } = recordingStore();
  const scope = new StoreScope(store);
  const refreshes = new RefreshRequests();
  const log: string[] = [];
  const notes: ReflectorNote[] = [];
  const connections = [...(script.connections ?? [])];
  const pages = [...(script.pages ?? [])];
  let streaming = script.streaming ?? true;
  let over = false;
  let nowMs = 0;
  const finish = (): never => {
    over = true;
    throw new Error("the script is over");
  };
  /** The next result of a script, after its callbacks. */
  const following = async <T extends object | "end">(from: (T | Aside)[]): Promise<T> => {
    for (;;) {
      const next = from.shift() ?? finish();
      if (!isAside(next)) return next;
      if (next === "silence") await untilAborted(new Promise<void>(() => undefined), refreshes.interrupt);
      else if (next instanceof Error) throw next;
      else next();
    }
  };
  const io: ReflectorIo<ConfigMap> = {
    timings: { backoff: { baseMs: 200, maxMs: 30_000 }, unavailableRetryMs: 30_000, provenMs: 10_000 },
    writer: scope,
    refreshes,
    optional: script.optional ?? false,
    streamingOffered: () => streaming,
    open: (version) => {
      log.push(`open ${version ?? "initial"}`);
      const happenings = [...(connections.shift() ?? finish())];
      return {
        next: async () => {
          nowMs += script.eventMs ?? 0;
          const next = await following(happenings);
          return next === "end" ? undefined : next;
        },
        close: async () => void log.push("close"),
      };
    },
    page: async (token) => {
      log.push(`page ${token ?? "first"}`);
      const page = await following(pages);
      return { entries: page.entries.map(([key, at]) => entry(key, at)), version: page.version, token: page.token };
    },
    currentVersion: async () => {
      log.push("probe");
      return script.currentVersion ?? finish();
    },
    wait: async (delayMs) => {
      log.push(`wait ${delayMs}`);
      if (script.longWaits === true) await untilAborted(new Promise<void>(() => undefined), refreshes.interrupt);
    },
    monotonicMs: () => nowMs,
    random: () => 1,
    stopped: () => over,
    report: (note) => {
      notes.push(note);
      if (note.type === "streamingUnsupported") streaming = false;
    },
  };
  return { io, store, emitted, log, notes, scope, refreshes };
}

export async function play(script: Script) {
  const played = scripted(script);
  await runReflector(played.io);
  return { ...played, emitted: played.emitted(), held: held(played.store) };
}
