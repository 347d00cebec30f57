// The engine's world over the model's cluster: cached reads show what the process has seen, everything else is a call.
// Every call completes at once, is written down, and may be made to go wrong.
import { KubeTimeoutError } from "@firebolt-operator/kube";
import type { EngineStatus } from "../../../src/api/firebolt-engine/status.ts";
import type { EngineCluster, EngineKey } from "../../../src/engine/cluster/engine-cluster.ts";
import { CHILD_KINDS, type ChildKind, type ChildOf, type ChildTypes } from "../../../src/engine/model/child-kinds.ts";
import type { ChildObject, Engine, Pod } from "../../../src/engine/model/children.ts";
import type { Removal, RoutingWrite } from "../../../src/engine/model/decision.ts";
import { statefulSetName } from "../../../src/engine/model/names.ts";
import type { ProbeRequest, QueryProbe } from "../../../src/engine/probe/query-probe.ts";
import { type Call, CrashError, type Plan, type Request } from "./calls.ts";
import { type Cluster, isChildMap, KINDS, type Kind, mapOf, placeOf, withMap } from "./cluster.ts";
import {
  applied,
  createdChild,
  type Effect,
  refusal,
  removed,
  routed,
  withFinalizer,
  withReplicas,
  withStatus,
} from "./effects.ts";
import { childrenIn, labelled, podsIn, queriesIn } from "./readings.ts";
import { type Lag, seenThrough } from "./system.ts";

const NEVER = new AbortController().signal;
export class ModelEngineCluster implements EngineCluster {
  readonly calls: Call[] = [];
  readonly #plan: Plan;
  readonly #life: AbortController | undefined;
  cluster: Cluster;
  lag: Lag;

  constructor(cluster: Cluster, lag: Lag, plan: Plan = {}) {
    this.cluster = cluster;
    this.lag = lag;
    this.#plan = plan;
    this.#life = plan.fault?.kind.startsWith("crash") === true ? new AbortController() : undefined;
  }

  get signal(): AbortSignal {
    return this.#life?.signal ?? NEVER;
  }

  get #seen(): Cluster {
    return seenThrough(this.cluster, this.lag);
  }

  engine(_key: EngineKey) {
    return this.#seen.engine;
  }
  engineClass(_key: EngineKey) {
    return this.#seen.engineClass;
  }
  instance(_key: EngineKey) {
    return this.#seen.instance;
  }
  child<K extends ChildKind>(kind: K, { name }: EngineKey): ChildOf<K> | undefined {
    return labelled(childIn(this.#seen, kind, name));
  }
  wroteLast({ metadata }: Engine) {
    return metadata?.resourceVersion !== undefined && metadata.resourceVersion === this.cluster.storedBy;
  }
  children(_engine: EngineKey): readonly ChildObject[] {
    const seen = this.#seen;
    return CHILD_KINDS.flatMap((kind) => childrenIn(seen, kind));
  }
  pods({ name }: EngineKey, generation: number): readonly Pod[] {
    return podsIn(this.#seen, statefulSetName(name, generation));
  }

  readEngine(_key: EngineKey) {
    return this.#read("engine", (cluster) => cluster.engine);
  }
  readChild<K extends ChildKind>(kind: K, { name }: EngineKey): Promise<ChildOf<K> | undefined> {
    return this.#read(name, (cluster) => childIn(cluster, kind, name));
  }
  listChildren(kind: ChildKind, _engine: EngineKey) {
    return this.#read(`list of ${kind}s`, (cluster) => childrenIn(cluster, kind));
  }
  listPods({ name }: EngineKey, generation: number) {
    const set = statefulSetName(name, generation);
    return this.#read(`list of pods of ${set}`, (cluster) => podsIn(cluster, set));
  }
  listWarnings() {
    return this.#read("list of warnings", () => []);
  }
  /** Pods respond immediately, unless the call itself fails: then they have not responded yet. */
  async queries(_engine: EngineKey, pods: readonly Pod[], question: ProbeRequest): Promise<QueryProbe> {
    const [first] = pods;
    if (first === undefined) return { type: "idle" };
    const request = { type: "probe", set: placeOf(first.metadata?.name ?? "")[0] } as const;
    try {
      return await this.#call(request, undefined, (cluster) => ({
        cluster,
        answer: queriesIn(cluster, pods, question) ?? { type: "pending" },
      }));
    } catch (error) {
      if (error instanceof CrashError) throw error;
      return { type: "pending" };
    }
  }

  addFinalizer(engine: Engine) {
    return this.#finalizer(engine, true);
  }
  removeFinalizer(engine: Engine) {
    return this.#finalizer(engine, false);
  }
  createChild<K extends ChildKind>(kind: K, object: ChildTypes[K]) {
    const map = mapOf(kind);
    const target = { kind: map, name: object.metadata?.name ?? "" } as const;
    return this.#call({ type: "create", map, object }, target, (cluster) => createdChild(cluster, map, object));
  }
  applyChild<K extends ChildKind>(kind: K, object: ChildTypes[K]): Promise<void> {
    const map = mapOf(kind);
    const request = { type: "apply", map, object } as const;
    return this.#call(request, { kind: map, name: object.metadata?.name ?? "" }, (cluster) =>
      applied(cluster, request),
    );
  }

  writeRoutingService(write: RoutingWrite) {
    const target = { kind: "services", name: write.service.metadata?.name ?? "" } as const;
    return this.#call({ type: "route", write }, target, (cluster) => routed(cluster, write));
  }
  remove(_namespace: string, removal: Removal) {
    const map = removal.kind === "Pod" ? "pods" : mapOf(removal.kind);
    return this.#call({ type: "remove", map, removal }, { kind: map, name: removal.name }, (cluster) =>
      removed(cluster, map, removal),
    );
  }
  patchReplicas(base: Engine, replicas: number) {
    return this.#call({ type: "scale", replicas }, { kind: "engine" }, (cluster) =>
      withReplicas(cluster, base, replicas),
    );
  }
  writeStatus(base: Engine, status: EngineStatus) {
    return this.#call({ type: "status", base, status }, { kind: "engine" }, (cluster) =>
      withStatus(cluster, base, status),
    );
  }

  #finalizer(base: Engine, present: boolean): Promise<void> {
    return this.#call({ type: "finalizer", present }, { kind: "engine" }, (cluster) =>
      withFinalizer(cluster, base, present),
    );
  }

  #read<A>(what: string, answer: (cluster: Cluster) => A): Promise<A> {
    return this.#call({ type: "read", what }, undefined, (cluster) => ({ cluster, answer: answer(cluster) }));
  }

  /** Nothing is awaited inside: when the call returns it has happened. */
  async #call<A>(request: Request, target: Target | undefined, effect: (cluster: Cluster) => Effect<A>): Promise<A> {
    const { interrupt, fault } = this.#plan;
    const at = this.calls.length;
    if (interrupt?.at === at) {
      if (interrupt.blind) for (const kind of KINDS) this.lag = { ...stalled(this.cluster, kind), ...this.lag };
      // What another leader stored is not its own.
      this.cluster = { ...interrupt.cluster, storedBy: this.cluster.storedBy };
    }
    const failure = fault?.at === at ? fault.kind : undefined;
    if (failure === "crashBefore") this.#crash();
    const before = this.cluster;
    const record = (accepted: boolean) =>
      this.calls.push({ request, accepted, before, after: this.cluster, lag: this.lag });
    if (failure === "refused") {
      record(false);
      throw refusal(500, "InternalError");
    }
    let done: Effect<A>;
    try {
      done = effect(before);
    } catch (error) {
      record(false);
      throw error;
    }
    this.cluster = done.cluster;
    if (failure === "lost" && target !== undefined) {
      // The watch has not reported it either: the process does not know what it did.
      if (done.cluster !== before) this.cluster = { ...done.cluster, storedBy: undefined };
      this.lag = { ...stalled(before, target.kind), ...this.lag };
      record(true);
      throw new KubeTimeoutError("no answer");
    }
    if (target !== undefined && done.cluster !== before) this.#learn(target);
    record(done.refused !== true);
    if (failure === "crashAfter") this.#crash();
    return done.answer;
  }

  /** A cache that lags sees at least what its own process wrote. */
  #learn({ kind, name }: Target): void {
    if (!Object.hasOwn(this.lag, kind)) return;
    if (kind === "engine") this.lag = { ...this.lag, engine: this.cluster.engine };
    else if (isChildMap(kind))
      this.lag = {
        ...this.lag,
        [kind]: withMap<object>(this.#seen[kind], name ?? "", this.cluster[kind].get(name ?? "")),
      };
  }

  #crash(): never {
    this.#life?.abort();
    throw new CrashError();
  }
}

function childIn<K extends ChildKind>(cluster: Cluster, kind: K, name: string): ChildOf<K> | undefined {
  return cluster[mapOf(kind)].get(name) as ChildOf<K> | undefined;
}

interface Target {
  readonly kind: Kind;
  readonly name?: string;
}

/** The kind as it is now, for a watch that stands still from here on. */
export function stalled(cluster: Cluster, kind: Kind): Lag {
  return { [kind]: cluster[kind] };
}
