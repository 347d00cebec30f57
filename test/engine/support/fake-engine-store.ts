// An engine's world in memory: one store of objects with resource versions, owner-blind deletes and a log of every
// request. Reads marked "cached" see the store as it is, or as `freeze` left it. Not an API server: it knows only what
// EngineCluster promises.

import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import type { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../../src/api/firebolt-engine/engine-class.ts";
import type { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import type { V1ObjectMeta, V1Pod } from "../../../src/api/generated/kubernetes.ts";
import { ENGINE_NAMES } from "../../../src/api/group.ts";
import { LABEL } from "../../../src/api/labels.ts";
import type { EngineCluster, EngineKey } from "../../../src/engine/cluster/engine-cluster.ts";
import type { ScrapeResponse } from "../../../src/engine/cluster/pod-scrape.ts";
import { CHILD_KINDS, type ChildKind, type ChildOf, type ChildTypes } from "../../../src/engine/model/child-kinds.ts";
import type { Pod } from "../../../src/engine/model/children.ts";
import type { StatefulSetWarning } from "../../../src/engine/model/snapshot.ts";
import type { ProbeRequest, QueryProbe } from "../../../src/engine/probe/query-probe.ts";
import { probeInOrder } from "./fake-prober.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

interface Stored extends ChildTypes {
  FireboltEngine: FireboltEngine;
  FireboltEngineClass: FireboltEngineClass;
  FireboltInstance: FireboltInstance;
  Pod: V1Pod;
}
type Kind = keyof Stored;

const IDLE = `${GAUGE.running} 0\n${GAUGE.suspended} 0\n`;

export class FakeEngineStore implements EngineCluster {
  readonly signal = new AbortController().signal;
  /** Every request that a real world would have sent, in order: `verb Kind name`. */
  readonly requests: string[] = [];
  warnings: StatefulSetWarning[] = [];
  /** What pods respond to a scrape. */
  metrics: (pod: string) => ScrapeResponse = () => ({ status: 200, body: IDLE });
  /** Called before every request; what it throws is the response. */
  intercept: (request: string) => void = () => undefined;
  /** Children that no cache shows, as those without their label. */
  isHidden: (kind: ChildKind, name: string) => boolean = () => false;
  #objects = new Map<string, Stored[Kind]>();
  #cache: Map<string, Stored[Kind]> | undefined;
  #version = 100;
  #stored: string | undefined;

  /** Another process leads from here on: it has written nothing yet. */
  elect(): void {
    this.#stored = undefined;
  }

  put<K extends Kind>(kind: K, object: Stored[K]): Stored[K] {
    const { namespace = "ns", name = "", uid = `${kind}-${name}-${this.#version}` } = object.metadata ?? {};
    const metadata = { generation: 1, ...object.metadata, namespace, uid, resourceVersion: String(++this.#version) };
    const stored = structuredClone({ ...object, metadata });
    this.#objects.set(`${kind} ${name}`, stored);
    return stored;
  }

  get<K extends Kind>(kind: K, name: string): Stored[K] | undefined {
    return this.#objects.get(`${kind} ${name}`) as Stored[K] | undefined;
  }

  drop(kind: Kind, name: string): void {
    this.#objects.delete(`${kind} ${name}`);
  }

  names(kind: Kind): readonly string[] {
    return [...this.#objects.keys()]
      .filter((key) => key.startsWith(`${kind} `))
      .map((key) => key.slice(kind.length + 1));
  }

  /** From here on cached reads see the present state, whatever is written. */
  freeze(): void {
    this.#cache = new Map(this.#objects);
  }
  thaw(): void {
    this.#cache = undefined;
  }

  /** What the StatefulSet controller and the garbage collector do: pods appear ready, terminating objects go. */
  settle(ready = true): void {
    for (const name of this.names("StatefulSet")) {
      const set = this.get("StatefulSet", name);
      const dying = set?.metadata?.deletionTimestamp !== undefined;
      const wanted = dying ? 0 : (set?.spec?.replicas ?? 0);
      if (dying) this.drop("StatefulSet", name);
      for (const pod of this.names("Pod").filter((candidate) => candidate.startsWith(`${name}-`)))
        if (Number(pod.slice(name.length + 1)) >= wanted) this.drop("Pod", pod);
      for (let index = 0; index < wanted; index++) this.#putPod(`${name}-${index}`, set?.metadata ?? {}, ready);
    }
  }

  #putPod(name: string, { labels = {}, name: set = "", uid = "" }: V1ObjectMeta, ready: boolean): void {
    const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "StatefulSet", name: set, uid, controller: true }];
    this.put("Pod", { metadata: { name, labels, ownerReferences }, status: { phase: "Running", conditions } });
  }

  #cached<K extends Kind>(kind: K, { name }: EngineKey): Stored[K] | undefined {
    return (this.#cache ?? this.#objects).get(`${kind} ${name}`) as Stored[K] | undefined;
  }

  #labelled<K extends Kind>(kind: K, objects: Map<string, Stored[Kind]>, engine: string): readonly Stored[K][] {
    const all = [...objects].filter(([key]) => key.startsWith(`${kind} `)).map(([, object]) => object as Stored[K]);
    return all.filter(({ metadata }) => metadata?.labels?.[LABEL.engine] === engine);
  }

  #request(request: string): void {
    this.requests.push(request);
    this.intercept(request);
  }

  engine = (key: EngineKey) => this.#cached("FireboltEngine", key);
  engineClass = (key: EngineKey) => this.#cached("FireboltEngineClass", key);
  instance = (key: EngineKey) => this.#cached("FireboltInstance", key);
  child<K extends ChildKind>(kind: K, key: EngineKey): ChildOf<K> | undefined {
    if (this.isHidden(kind, key.name)) return undefined;
    return this.#cached(kind, key) as ChildOf<K> | undefined;
  }
  wroteLast = ({ metadata }: Parameters<EngineCluster["wroteLast"]>[0]) => metadata?.resourceVersion === this.#stored;
  children = ({ name }: EngineKey) =>
    CHILD_KINDS.flatMap((kind) =>
      this.#labelled(kind, this.#cache ?? this.#objects, name).map(({ metadata = {} }) => ({ kind, metadata })),
    );
  pods = ({ name }: EngineKey, generation: number) => this.#podsIn(this.#cache ?? this.#objects, name, generation);

  #podsIn(objects: Map<string, Stored[Kind]>, engine: string, generation: number): readonly V1Pod[] {
    return this.#labelled("Pod", objects, engine).filter(
      ({ metadata }) => metadata?.labels?.[LABEL.generation] === String(generation),
    );
  }

  async readEngine({ name }: EngineKey) {
    this.#request(`get FireboltEngine ${name}`);
    return this.get("FireboltEngine", name);
  }
  async readChild<K extends ChildKind>(kind: K, { name }: EngineKey): Promise<ChildOf<K> | undefined> {
    this.#request(`get ${kind} ${name}`);
    return this.get(kind, name) as ChildOf<K> | undefined;
  }
  async listChildren(kind: ChildKind, { name }: EngineKey) {
    this.#request(`list ${kind} ${name}`);
    return this.#labelled(kind, this.#objects, name).map(({ metadata = {} }) => ({ kind, metadata }));
  }
  async listPods({ name }: EngineKey, generation: number) {
    this.#request(`list Pod ${name}`);
    return this.#podsIn(this.#objects, name, generation);
  }
  async listWarnings() {
    this.#request("list Event");
    return this.warnings;
  }
  /** Pods respond at once: a pass never has to wait for them. */
  async queries(_engine: EngineKey, pods: readonly Pod[], _question?: ProbeRequest): Promise<QueryProbe> {
    return probeInOrder(pods, (name) => {
      this.#request(`scrape Pod ${name}`);
      return this.metrics(name);
    });
  }

  async addFinalizer(engine: Parameters<EngineCluster["addFinalizer"]>[0]) {
    this.#request(`finalizer FireboltEngine ${engine.metadata?.name}`);
    this.#changeEngine(engine, { finalizers: [ENGINE_NAMES.finalizer] });
  }
  async removeFinalizer(engine: Parameters<EngineCluster["addFinalizer"]>[0]) {
    this.#request(`unfinalize FireboltEngine ${engine.metadata?.name}`);
    this.#changeEngine(engine, { finalizers: [] });
    this.drop("FireboltEngine", engine.metadata?.name ?? "");
  }
  async applyChild<K extends ChildKind>(kind: K, object: Stored[K]) {
    this.#request(`apply ${kind} ${object.metadata?.name}`);
    this.put(kind, object);
  }
  async createChild<K extends ChildKind>(kind: K, object: Stored[K]) {
    const name = object.metadata?.name ?? "";
    this.#request(`create ${kind} ${name}`);
    if (this.get(kind, name) !== undefined) return "exists" as const;
    this.put(kind, object);
    return "created" as const;
  }
  async writeRoutingService({ service, generation, observed }: Parameters<EngineCluster["writeRoutingService"]>[0]) {
    const name = service.metadata?.name ?? "";
    this.#request(`route Service ${name} to ${generation}`);
    const seen = observed.type === "live" ? observed.service.metadata?.resourceVersion : undefined;
    if (this.get("Service", name)?.metadata?.resourceVersion !== seen) return "conflict" as const;
    this.put("Service", service);
    return "written" as const;
  }
  async remove(_namespace: string, { kind, name, uid, resourceVersion }: Parameters<EngineCluster["remove"]>[1]) {
    this.#request(`delete ${kind} ${name}`);
    const found: { readonly metadata?: V1ObjectMeta } | undefined = this.get(kind, name);
    if (found === undefined) return "accepted" as const;
    const same =
      found.metadata?.uid === uid &&
      (resourceVersion ?? found.metadata?.resourceVersion) === found.metadata?.resourceVersion;
    if (!same) return "conflict" as const;
    this.#delete(kind, name);
    return "accepted" as const;
  }

  /** StatefulSets stay until their pods are deleted. */
  #delete(kind: ChildKind | "Pod", name: string): void {
    const set = kind === "StatefulSet" ? this.get(kind, name) : undefined;
    if (set === undefined) this.drop(kind, name);
    else this.put("StatefulSet", { ...set, metadata: { ...set.metadata, deletionTimestamp: "2026-01-01T12:00:00Z" } });
  }

  async patchReplicas(engine: Parameters<EngineCluster["patchReplicas"]>[0], replicas: number) {
    const name = engine.metadata?.name ?? "";
    this.#request(`replicas FireboltEngine ${name}`);
    const stored = this.get("FireboltEngine", name);
    if (stored?.spec === undefined || stored.metadata?.resourceVersion !== engine.metadata?.resourceVersion)
      return { type: "refused", because: new Error("conflict") } as const;
    const metadata = { ...stored.metadata, generation: (stored.metadata?.generation ?? 0) + 1 };
    const patched = this.put("FireboltEngine", { ...stored, metadata, spec: { ...stored.spec, replicas } });
    this.#stored = patched.metadata?.resourceVersion;
    return { type: "patched", engine: patched } as const;
  }

  async writeStatus(
    engine: Parameters<EngineCluster["writeStatus"]>[0],
    status: Parameters<EngineCluster["writeStatus"]>[1],
  ) {
    const name = engine.metadata?.name ?? "";
    this.#request(`status FireboltEngine ${name}`);
    const stored = this.get("FireboltEngine", name);
    if (stored === undefined) return { type: "gone" } as const;
    if (stored.metadata?.resourceVersion !== engine.metadata?.resourceVersion) return { type: "conflict" } as const;
    const written = this.put("FireboltEngine", { ...stored, status });
    this.#stored = written.metadata?.resourceVersion;
    return { type: "written", engine: written } as const;
  }

  #changeEngine(engine: Parameters<EngineCluster["addFinalizer"]>[0], metadata: V1ObjectMeta): void {
    const stored = this.get("FireboltEngine", engine.metadata?.name ?? "");
    if (stored?.metadata?.resourceVersion !== engine.metadata?.resourceVersion) throw new Error("conflict");
    if (stored !== undefined) this.put("FireboltEngine", { ...stored, metadata: { ...stored.metadata, ...metadata } });
  }
}
