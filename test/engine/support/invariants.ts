// The safety invariants (docs/design/engine.md#invariants) that can be observed from outside, checked over a recorded
// history: after every stored version, by any writer. Returns the violations; an empty list means none.
import type { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import type { EngineStatus } from "../../../src/api/firebolt-engine/status.ts";
import type { V1Pod, V1Service, V1StatefulSet } from "../../../src/api/generated/kubernetes.ts";
import { LABEL } from "../../../src/api/labels.ts";
import { isLegalMove, parsePhase } from "../../../src/engine/model/phase.ts";
import type { EngineHistory, Seen } from "./history.ts";

/** What a test itself does to the engine's objects: the invariants about them exempt outside edits. */
export interface OutsideEdits {
  readonly routing?: boolean;
  readonly statefulSets?: boolean;
  readonly status?: boolean;
}

export function brokenInvariants(history: EngineHistory, edits: OutsideEdits = {}): readonly string[] {
  const replay = new Replay(edits);
  for (const entry of history.all()) replay.step(entry);
  replay.end();
  return replay.broken;
}

/** The highest number ever used: higher than the current one after a switch back to a generation. */
const highestOf = (status: EngineStatus): number => Math.max(status.currentGeneration, status.highestGeneration ?? 0);

class Replay {
  readonly broken: string[] = [];
  readonly #edits: OutsideEdits;
  readonly #engines = new Map<string, FireboltEngine>();
  readonly #sets = new Map<string, V1StatefulSet>();
  readonly #selectors = new Map<string, number>();
  readonly #pods = new Map<string, V1Pod>();
  /** Selectors that went back to a draining generation: the next status must record the switch back. */
  readonly #returns = new Map<string, { readonly target: number; readonly broken: () => void }>();

  constructor(edits: OutsideEdits) {
    this.#edits = edits;
  }

  step(entry: Seen): void {
    switch (entry.kind) {
      case "FireboltEngine":
        this.#engine(entry.name, entry.object, entry);
        break;
      case "StatefulSet":
        this.#statefulSet(entry.name, entry.object, entry);
        break;
      case "Service":
        this.#service(entry.object, entry);
        break;
      case "Pod":
        if (entry.change === "removed") this.#pods.delete(entry.name);
        else this.#pods.set(entry.name, entry.object);
        break;
      case "ConfigMap":
        break;
      default:
        entry satisfies never;
    }
  }

  end(): void {
    for (const { broken } of this.#returns.values()) broken();
  }

  #engine(name: string, engine: FireboltEngine, entry: Seen): void {
    const before = this.#engines.get(name);
    if (entry.change === "removed") {
      this.#engines.delete(name);
      this.#selectors.delete(name);
      return;
    }
    this.#engines.set(name, engine);
    const { status } = engine;
    if (status === undefined || this.#edits.status === true) return;
    const { currentGeneration: current, activeGeneration: active, drainingGeneration: draining } = status;
    const phase = parsePhase(status.phase);
    const returned = this.#returns.get(name);
    this.#returns.delete(name);
    if (returned !== undefined && returned.target !== active) returned.broken();
    const fail = (invariant: string) => this.#fail(entry, `${invariant} (${phase} ${current}/${active}/${draining})`);
    if (phase === "unknown" || current < 0 || active < -1 || (draining ?? 0) < 0)
      fail("status-in-range: strange status");
    if (active > current) fail("active-never-goes-back: active is ahead of current");
    if ((phase === "stable" || phase === "stopped") && (current !== active || draining !== undefined))
      fail("one-generation-at-rest: at rest with an open rollout");
    const drains = phase === "draining" || phase === "cleaning";
    const highest = highestOf(status);
    if (draining !== undefined && !(drains && draining !== current && draining <= highest && current === active))
      fail("draining-only-after-switch: draining misplaced");
    const old = before?.metadata?.uid === engine.metadata?.uid ? before?.status : undefined;
    if (old !== undefined) {
      const from = parsePhase(old.phase);
      // A draining generation that is wanted again: numbers go back to it, and the highest one stays known.
      const isSwitchedBack =
        from === "draining" && phase === "draining" && current === old.drainingGeneration && highest === highestOf(old);
      const isBump = current !== old.currentGeneration && !isSwitchedBack;
      if (isBump && current !== highestOf(old) + 1)
        fail(`numbers-never-reused: current went from ${old.currentGeneration} to ${current}`);
      if (highest < highestOf(old)) fail("numbers-never-reused: the highest number went down");
      if (active < old.activeGeneration && !isSwitchedBack) fail("active-never-goes-back: active went down");
      if (isBump && !["stable", "stopped", "creating"].includes(from)) fail(`no-bump-mid-rollout: bump in ${from}`);
      if (!isLegalMove(from, phase === "uninitialised" || phase === "unknown" ? "creating" : phase))
        fail(`only-legal-moves: from ${from}`);
      if ((status.observedGeneration ?? 0) < (old.observedGeneration ?? 0))
        fail("observed-only-when-verified: observedGeneration went down");
    }
    this.#routed(name, entry);
  }

  #statefulSet(name: string, set: V1StatefulSet, entry: Seen): void {
    const before = this.#sets.get(name);
    const engineName = set.metadata?.labels?.[LABEL.engine] ?? "";
    const generation = Number(set.metadata?.labels?.[LABEL.generation] ?? Number.NaN);
    const engine = this.#engines.get(engineName);
    const isOwn = engine !== undefined && set.metadata?.ownerReferences?.[0]?.uid === engine.metadata?.uid;
    if (entry.change === "removed") this.#sets.delete(name);
    else this.#sets.set(name, set);
    if (!isOwn || this.#edits.statefulSets === true) return;
    const { currentGeneration: current = -1, activeGeneration: active = -1 } = engine.status ?? {};
    if (before === undefined && generation > current)
      this.#fail(entry, `number-before-objects: ${name} before its number was stored`);
    if ((set.metadata?.generation ?? 1) > 1 && set.metadata?.deletionTimestamp === undefined)
      this.#fail(entry, `stateful-sets-never-changed: ${name} was changed`);
    const goes = entry.change === "removed" || set.metadata?.deletionTimestamp !== undefined;
    const went = before?.metadata?.deletionTimestamp !== undefined;
    if (!goes || went || engine.metadata?.deletionTimestamp !== undefined || active < 0) return;
    if (generation === active) this.#fail(entry, `serving-never-deleted: ${name} deleted while active`);
    if (generation === this.#selectors.get(engineName))
      this.#fail(entry, `serving-never-deleted: ${name} deleted while selected`);
  }

  #service(service: V1Service, entry: Seen): void {
    const engineName = service.metadata?.labels?.[LABEL.engine] ?? "";
    if (entry.name !== `${engineName}-service`) return;
    if (entry.change === "removed" || service.metadata?.deletionTimestamp !== undefined) {
      this.#selectors.delete(engineName);
      return;
    }
    const before = this.#selectors.get(engineName);
    const target = Number(service.spec?.selector?.[LABEL.generation] ?? Number.NaN);
    this.#selectors.set(engineName, target);
    this.#routed(engineName, entry);
    if (before === undefined || before === target || this.#edits.routing === true) return;
    const { activeGeneration: active, drainingGeneration: draining } = this.#engines.get(engineName)?.status ?? {};
    // Back to a generation that drains: it is switched back to, and all of its pods are ready.
    const broken = () => this.#fail(entry, `selector-never-goes-back: selector went from ${before} to ${target}`);
    if (target === draining && this.#allReady(engineName, target)) this.#returns.set(engineName, { target, broken });
    else if (target < before && target !== active) broken();
    if (target > before && !this.#allReady(engineName, target))
      this.#fail(entry, `ready-before-switch: selector moved to ${target} before its pods were ready`);
  }

  #routed(engineName: string, entry: Seen): void {
    const target = this.#selectors.get(engineName);
    const engine = this.#engines.get(engineName);
    const { currentGeneration: current, activeGeneration: active = -1, drainingGeneration } = engine?.status ?? {};
    if (target === undefined || active < 0 || this.#edits.routing === true || this.#edits.status === true) return;
    if (target !== active && target !== current && target !== drainingGeneration)
      this.#fail(
        entry,
        `routed-to-active-or-current: selector ${target} is neither active ${active} nor current ${current}`,
      );
  }

  #allReady(engineName: string, generation: number): boolean {
    const wanted = this.#sets.get(`${engineName}-g${generation}`)?.spec?.replicas ?? 1;
    const ready = [...this.#pods.values()].filter(
      ({ metadata, status }) =>
        metadata?.labels?.[LABEL.engine] === engineName &&
        metadata.labels[LABEL.generation] === String(generation) &&
        status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true,
    );
    return ready.length === wanted;
  }

  #fail({ kind, name, version }: Seen, what: string): void {
    this.broken.push(`${what} [${kind} ${name} at version ${version}]`);
  }
}
