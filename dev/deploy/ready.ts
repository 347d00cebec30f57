// Waits until a platform is ready: the instance with all its components, and every engine on its newest spec. Reports
// what is still missing, also in the error on a timeout.
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineView } from "../../src/plugin/status/engine-view.ts";
import { observePlatform } from "../../src/plugin/status/observe-platform.ts";
import { type InstanceView, type PlatformView, viewPlatform } from "../../src/plugin/status/platform-view.ts";
import type { Connection } from "./connection.ts";

const POLL_MS = 200;
const TIMEOUT_MS = 300_000;
const TELL_EVERY_MS = 5_000;

export interface WaitOptions {
  /** Namespace; default the connection's. */
  readonly namespace?: string;
  /** These must exist. Default: whatever exists, and at least one instance. */
  readonly instances?: readonly string[];
  readonly engines?: readonly string[];
  readonly timeoutMs?: number;
  /** What is missing, whenever that changes, and every few seconds while it does not. */
  readonly progress?: (line: string) => void;
  /** Every state that was seen. */
  readonly onView?: (view: PlatformView) => void;
}

/** Returns the state in which everything was ready. Tolerates an API server that does not respond for a while. */
export async function waitUntilReady(cluster: Connection, options: WaitOptions = {}): Promise<PlatformView> {
  const { namespace = cluster.namespace, timeoutMs = TIMEOUT_MS, progress = () => undefined } = options;
  const { signal } = cluster.call;
  const startedMs = performance.now();
  const teller = createTeller(progress, startedMs);
  for (;;) {
    const seen = await look(cluster, namespace);
    if (seen.type === "view") options.onView?.(seen.view);
    const missing = seen.type === "view" ? missingOf(seen.view, options) : [{ what: "the API server", why: seen.why }];
    if (seen.type === "view" && missing.length === 0) return seen.view;
    const nowMs = performance.now();
    if (nowMs - startedMs > timeoutMs)
      throw new Error(`not ready after ${timeoutMs / 1000} s: ${missing.map(missingText).join("; ")}`);
    teller(missing, nowMs);
    await sleep(POLL_MS, undefined, { signal });
  }
}

type Look = { readonly type: "view"; readonly view: PlatformView } | { readonly type: "failed"; readonly why: string };

async function look(cluster: Connection, namespace: string): Promise<Look> {
  try {
    return { type: "view", view: viewPlatform(await observePlatform(cluster, namespace)) };
  } catch (error) {
    if (cluster.call.signal.aborted) throw error;
    return { type: "failed", why: error instanceof Error ? error.message : String(error) };
  }
}

/** Something that is not as requested. */
export interface Missing {
  readonly what: string;
  readonly why: string;
}

const missingText = ({ what, why }: Missing): string => `${what}: ${why}`;

/** Reports each object once per reason; when nothing changes for a while, reports what is still missing. */
export function createTeller(progress: (line: string) => void, startedMs: number) {
  let known = new Map<string, string>();
  let toldMs = startedMs;
  return (missing: readonly Missing[], nowMs: number): void => {
    const changed = missing.filter(({ what, why }) => known.get(what) !== why);
    for (const one of changed) progress(missingText(one));
    known = new Map(missing.map(({ what, why }) => [what, why]));
    if (changed.length > 0) toldMs = nowMs;
    else if (nowMs - toldMs >= TELL_EVERY_MS) {
      toldMs = nowMs;
      progress(`still waiting for ${missing.map(({ what }) => what).join(", ")}`);
    }
  };
}

/** What is not as requested; empty when everything is ready. Pure. */
export function missingOf(view: PlatformView, wanted: Pick<WaitOptions, "instances" | "engines">): readonly Missing[] {
  const engines = [...view.instances.flatMap((instance) => instance.engines), ...view.strayEngines];
  const absent = [
    ...absentOf("instance", wanted.instances, view.instances),
    ...absentOf("engine", wanted.engines, engines),
  ];
  const nothing = absent.length === 0 && view.instances.length === 0;
  return [
    ...absent,
    ...(nothing ? [{ what: "instance", why: "there is none" }] : []),
    ...view.instances.flatMap(missingOfInstance),
    ...engines.flatMap(missingOfEngine),
  ];
}

type Named = Pick<InstanceView, "name">;

function absentOf(kind: string, wanted: readonly string[] = [], present: readonly Named[]): readonly Missing[] {
  return wanted
    .filter((name) => !present.some((one) => one.name === name))
    .map((name) => ({ what: `${kind} ${name}`, why: "does not exist yet" }));
}

function missingOfInstance({ name, phase, components, waits }: InstanceView): readonly Missing[] {
  const what = `instance ${name}`;
  if (phase !== "Ready") return [{ what, why: waits?.why ?? `is ${phase || "new"}` }];
  return components.flatMap((one) =>
    one.ready >= one.wanted
      ? []
      : [{ what: `${one.name} of ${name}`, why: `${one.ready} of ${one.wanted} pods ready` }],
  );
}

function missingOfEngine({ name, phase, ready, upToDate, waits }: EngineView): readonly Missing[] {
  const rests = phase === "stable" ? ready?.status === "True" : phase === "stopped";
  if (rests && upToDate && waits === undefined) return [];
  return [{ what: `engine ${name}`, why: waits?.why ?? `is ${phase || "new"}` }];
}
