// The operator's processes as the node sees them: containers are processes of the private machine, and can be killed like any other.
// The one that leads is killed, again and again, without a word before: it gets no chance to put anything in order.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, valueAt } from "@firebolt-operator/kube/testing";
import { OPERATOR_NAMESPACE } from "../../../dev/deploy/charts.ts";

/** On the manager's command line and on no other, as the chart writes it. */
const MANAGER_ARGUMENT = "--webhook-service=";
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases/c662f7f5.firebolt.io`;

export interface OperatorKiller {
  /** Processes that were killed so far. */
  readonly kills: () => number;
  stop(): Promise<void>;
}

/** Calls `killed` each time. */
export function startOperatorKiller(api: Api, everyMs: number, killed: () => void = () => undefined): OperatorKiller {
  const stop = new AbortController();
  let kills = 0;
  const run = async (): Promise<void> => {
    for (let nextMs = performance.now() + everyMs; ; nextMs += everyMs) {
      await sleep(Math.max(0, nextMs - performance.now()), undefined, { signal: stop.signal });
      if (kill(await leadingProcess(api))) {
        kills += 1;
        killed();
      }
    }
  };
  const running = run().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    kills: () => kills,
    async stop() {
      stop.abort();
      await running;
    },
  };
}

/** Of the pod that holds the lease; of any other while that one is not running. */
async function leadingProcess(api: Api): Promise<number | undefined> {
  const { body } = await api.expect({ path: LEASE });
  const [leader] = String(valueAt(body, ["spec", "holderIdentity"])).split("_");
  const processes = operatorProcesses();
  return processes.find((pid) => linesOf(`/proc/${pid}/environ`).includes(`HOSTNAME=${leader}`)) ?? processes[0];
}

export function operatorProcesses(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => linesOf(`/proc/${pid}/cmdline`).some((argument) => argument.startsWith(MANAGER_ARGUMENT)));
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\0");
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function kill(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, "SIGKILL");
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** It exited between two checks. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ENOENT", "ESRCH"].includes(String(error.code));
