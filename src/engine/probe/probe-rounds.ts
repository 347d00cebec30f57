// Which engine waits for which pods, and when the last of them has a result. Rounds are independent: a pod that was
// replaced delays no round that it is not in. Equal rounds of one engine are one, however often its passes request
// them.
import { formatKey } from "@firebolt-operator/kube";
import type { EngineKey } from "../cluster/engine-cluster.ts";

interface Round {
  readonly engine: EngineKey;
  /** Pods without a result, by uid. */
  readonly waiting: Set<string>;
}

export class ProbeRounds {
  readonly #byEngine = new Map<string, Set<Round>>();
  readonly #byPod = new Map<string, Set<Round>>();

  /** The engine waits for these pods. */
  add({ namespace, name }: EngineKey, pods: readonly string[]): void {
    const engine = { namespace, name };
    const rounds = this.#byEngine.get(formatKey(engine)) ?? new Set();
    const waiting = new Set(pods);
    for (const round of rounds) if (isEqual(round.waiting, waiting)) return;
    const round = { engine, waiting };
    this.#byEngine.set(formatKey(engine), rounds.add(round));
    for (const pod of waiting) this.#byPod.set(pod, (this.#byPod.get(pod) ?? new Set()).add(round));
  }

  /** The pod has a result: returns the engines that wait for no other pod of a round. */
  finish(pod: string): readonly EngineKey[] {
    const complete = new Map<string, EngineKey>();
    for (const round of this.#byPod.get(pod) ?? []) {
      round.waiting.delete(pod);
      if (round.waiting.size > 0) continue;
      const key = formatKey(round.engine);
      complete.set(key, round.engine);
      const rounds = this.#byEngine.get(key);
      rounds?.delete(round);
      if (rounds?.size === 0) this.#byEngine.delete(key);
    }
    this.#byPod.delete(pod);
    return [...complete.values()];
  }
}

function isEqual(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other);
}
