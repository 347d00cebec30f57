// Decides what scale, stop, start, restart and wake do to an engine: one patch, nothing, or an error. Pure; change.ts
// sends the patch.
import { timeText } from "../../api/condition-list.ts";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { AutoStopPolicy } from "../../engine/auto-stop/policy.ts";
import { isWakeFresh, wakeStampOf } from "../../engine/auto-stop/wake-stamp.ts";
import { ownCommand, type Where } from "../own-command.ts";
import { replicasText } from "../terminal/count.ts";

/** Written by `stop` for `start`: the former number of nodes. */
export const REPLICAS_BEFORE_STOP = "kubectl.firebolt.io/replicas-before-stop";
const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

/**
 * The state in which a change is complete. `serving`: being at rest is not enough, because the operator may not have
 * read the request.
 */
export type Until = "stopped" | "at rest" | "serving";

export type Change =
  | {
      readonly type: "patch";
      readonly patch: object;
      readonly done: string;
      readonly until: Until;
      /** Whether the patch changes the spec, and with it the object's generation. */
      readonly changesSpec: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly type: "nothing"; readonly because: string }
  /** The request would have no effect. */
  | { readonly type: "refused"; readonly because: string; readonly exit: "refused" | "notYet" };

/** Off, on, or unknown because the engine's class may not be read. */
export type KnownPolicy =
  | { readonly type: "off" }
  | { readonly type: "on"; readonly policy: AutoStopPolicy }
  | { readonly type: "unknown"; readonly engineClass: string };

export interface ChangeFacts {
  readonly engine: FireboltEngine;
  readonly policy: KnownPolicy;
  /** Of `--replicas`. */
  readonly wanted: number | undefined;
  /** Where the engine is, for commands in messages. */
  readonly where: Where;
  readonly nowMs: number;
}

export type Decide = (facts: ChangeFacts) => Change;

const STARTED_AGAIN = "auto-stop is enabled: a query, a schedule or a new wake request will start this engine again";
const STOPPED_AGAIN = "auto-stop is enabled: it will stop this engine again once it has been idle";

interface Scaling {
  readonly replicas: number;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly done: string;
  readonly warnings?: readonly string[];
}

/** A recent wake request would start the engine again at once: `stop` withdraws it. */
function scale({ policy }: ChangeFacts, { replicas, annotations = {}, done, warnings = [] }: Scaling): Change {
  const all = replicas === 0 ? { ...annotations, [ANNOTATION.wakeRequested]: null } : annotations;
  const autoStop = policy.type !== "on" ? [] : [replicas === 0 ? STARTED_AGAIN : STOPPED_AGAIN];
  return {
    type: "patch",
    patch: { ...(Object.keys(all).length === 0 ? {} : { metadata: { annotations: all } }), spec: { replicas } },
    done,
    until: replicas === 0 ? "stopped" : "at rest",
    changesSpec: true,
    warnings: [...warnings, ...autoStop],
  };
}

const startCommand = (where: Where, { metadata }: FireboltEngine): string =>
  ownCommand(where, ["engine", "start", metadata?.name ?? ""]);

export const decideScale: Decide = (facts) => {
  const { engine, wanted = 0 } = facts;
  const now = engine.spec?.replicas ?? 0;
  return wanted === now
    ? { type: "nothing", because: `already has ${replicasText(now)}` }
    : scale(facts, { replicas: wanted, done: `scaled from ${now} to ${replicasText(wanted)}` });
};

export const decideStop: Decide = (facts) => {
  const { engine, nowMs } = facts;
  const now = engine.spec?.replicas ?? 0;
  if (now > 0)
    return scale(facts, {
      replicas: 0,
      annotations: { [REPLICAS_BEFORE_STOP]: String(now) },
      done: `stopped (it had ${replicasText(now)})`,
    });
  if (!isWakeFresh(wakeStampOf(engine.metadata), nowMs)) return { type: "nothing", because: "is already stopped" };
  return {
    type: "patch",
    patch: { metadata: { annotations: { [ANNOTATION.wakeRequested]: null } } },
    done: "is already stopped; its pending wake request was withdrawn",
    until: "stopped",
    changesSpec: false,
    warnings: [],
  };
};

export const decideStart: Decide = (facts) => {
  const { engine, policy, wanted } = facts;
  const now = engine.spec?.replicas ?? 0;
  if (now > 0) return { type: "nothing", because: `is already running with ${replicasText(now)}` };
  const remembered = Number(engine.metadata?.annotations?.[REPLICAS_BEFORE_STOP] ?? "");
  const known = wanted ?? (remembered > 0 ? remembered : undefined);
  const replicas = known ?? (policy.type === "on" ? policy.policy.activeReplicas : 1);
  const warnings =
    known === undefined && policy.type === "unknown"
      ? [
          `you have no permission to read class ${policy.engineClass}, so 1 replica is assumed: use --replicas to choose another number`,
        ]
      : [];
  return scale(facts, {
    replicas,
    annotations: { [REPLICAS_BEFORE_STOP]: null },
    done: `started with ${replicasText(replicas)}`,
    warnings,
  });
};

export const decideRestart: Decide = ({ engine, where, nowMs }) => {
  if ((engine.spec?.replicas ?? 0) === 0)
    return {
      type: "refused",
      because: `is stopped, so there is nothing to restart; start it with: ${startCommand(where, engine)}`,
      exit: "notYet",
    };
  return {
    type: "patch",
    patch: { spec: { template: { metadata: { annotations: { [RESTARTED_AT]: timeText(nowMs) } } } } },
    done: "restarted: a new generation replaces the current one",
    until: "at rest",
    changesSpec: true,
    warnings: [],
  };
};

export const decideWake: Decide = ({ engine, policy, where, nowMs }) => {
  if (policy.type === "off")
    return {
      type: "refused",
      because: `has auto-stop disabled, so a wake request has no effect; start it with: ${startCommand(where, engine)}`,
      exit: "refused",
    };
  // The operator ignores requests from before the last scaling; this one is newer, even if this machine's clock is
  // behind.
  const scaledMs = Date.parse(engine.status?.lastScaledAt ?? "");
  const stampMs = Number.isNaN(scaledMs) ? nowMs : Math.max(nowMs, scaledMs + 1_000);
  return {
    type: "patch",
    patch: { metadata: { annotations: { [ANNOTATION.wakeRequested]: timeText(stampMs) } } },
    done: "wake requested",
    until: "serving",
    changesSpec: false,
    warnings: [
      ...((engine.spec?.replicas ?? 0) > 0 ? ["the engine is running: the request only resets its idle time"] : []),
      ...(policy.type === "unknown"
        ? [
            `you have no permission to read class ${policy.engineClass}: if auto-stop is disabled there, the request has no effect`,
          ]
        : []),
    ],
  };
};
