// The engines that demand could wake: stopped, with auto-stop on. Kept up to date by events, so that a look-up costs
// nothing however many engines there are.
import type { DeepReadonly } from "@firebolt-operator/kube";
import type { CacheEvent, ObjectCache } from "@firebolt-operator/kube/cache";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { EngineKey } from "../cluster/engine-cluster.ts";

export class WakeableEngines {
  readonly #byNamespace = new Map<string, Set<string>>();

  /** Until the returned function is called. `onChange` reports an engine that becomes wakeable, or no longer is. */
  follow(engines: ObjectCache<FireboltEngine>, onChange: (key: EngineKey, isWakeable: boolean) => void): () => void {
    return engines.onEvent((event) => {
      const key = keyOf(event.object);
      const isWakeable = event.type !== "deleted" && canBeWoken(event.object);
      if (this.#set(key, isWakeable)) onChange(key, isWakeable);
    });
  }

  get isEmpty(): boolean {
    return this.#byNamespace.size === 0;
  }

  namespaces(): readonly string[] {
    return [...this.#byNamespace.keys()];
  }

  has({ namespace, name }: EngineKey): boolean {
    return this.#byNamespace.get(namespace)?.has(name) ?? false;
  }

  /** Whether that is a change. */
  #set(key: EngineKey, isWakeable: boolean): boolean {
    if (this.has(key) === isWakeable) return false;
    const { namespace, name } = key;
    const names = this.#byNamespace.get(namespace) ?? new Set();
    if (isWakeable) names.add(name);
    else names.delete(name);
    if (names.size === 0) this.#byNamespace.delete(namespace);
    else this.#byNamespace.set(namespace, names);
    return true;
  }
}

/** By what the last pass at rest stored of the policy: before there was one, nothing could be woken either. */
function canBeWoken({ metadata, spec, status }: CacheEvent<FireboltEngine>["object"]): boolean {
  const reason = status?.autoStopReason;
  const isOn = reason !== undefined && reason !== "Disabled";
  return isOn && spec?.replicas === 0 && metadata?.deletionTimestamp === undefined;
}

function keyOf({ metadata }: DeepReadonly<FireboltEngine>): EngineKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}
