// A model of everything around the store of a watch cache: a server with one history, a watch that lags behind it,
// responses to own writes that arrive late and in any order, and lists that are overtaken in flight. Checks the cache
// after every step.
import { expect } from "vitest";
import type { CacheEvent } from "../../src/cache/cache.ts";
import { ObjectStore } from "../../src/cache/object-store.ts";
import { mergeWrite } from "../../src/cache/own-writes.ts";
import { type Relist, StoreScope } from "../../src/cache/store-scope.ts";
import type { AcceptedWrite } from "../../src/client/client.ts";
import { parseLabelSelector } from "../../src/core/label-selector.ts";
import { silentLogger } from "../../src/core/logger.ts";
import { CONFIG_MAPS, type ConfigMap, configMap, entry, shapeConfigMap } from "../support/cache-fixtures.ts";

interface ServerObject {
  readonly name: string;
  readonly uid: string;
  readonly version: number;
  readonly on: boolean;
}

/** One entry of the server's history: the object after and before the change. */
interface Change {
  readonly version: number;
  readonly before: ServerObject | undefined;
  readonly after: ServerObject | undefined;
}

export type Move =
  | { readonly type: "write"; readonly name: string; readonly on: boolean; readonly own: boolean }
  | { readonly type: "delete"; readonly name: string; readonly own: boolean }
  /** The response to an own write in flight arrives. */
  | { readonly type: "response"; readonly which: number }
  | { readonly type: "watch"; readonly events: number }
  | { readonly type: "bookmark" }
  /** The watch cannot be resumed: a list is requested, the server takes it, it arrives. */
  | { readonly type: "askList" }
  | { readonly type: "takeList" }
  | { readonly type: "receiveList" };

interface ListUnderWay {
  readonly relist: Relist<ConfigMap>;
  taken: { readonly version: number; readonly objects: readonly ServerObject[] } | undefined;
}

export class WatchCacheModel {
  readonly #selective: boolean;
  readonly #server = new Map<string, ServerObject>();
  readonly #history: Change[] = [];
  readonly #responses: { readonly write: AcceptedWrite; readonly version: number }[] = [];
  readonly #store: ObjectStore<ConfigMap>;
  readonly #scope: StoreScope<ConfigMap>;
  /** The state according to events alone. */
  readonly #believed = new Map<string, { readonly uid: string; readonly version: number }>();
  readonly #newest = new Map<string, number>();
  readonly #deletedByUs = new Set<string>();
  #list: ListUnderWay | undefined;
  #emitted = 0;
  #version = 0;
  #uids = 0;

  constructor(selective: boolean) {
    this.#selective = selective;
    this.#store = new ObjectStore<ConfigMap>({
      indexes: { state: (object) => [object.metadata?.labels?.["state"] ?? ""] },
      logger: silentLogger,
      selective,
      emit: (events) => {
        for (const event of events) this.#hear(event);
      },
    });
    this.#scope = new StoreScope(this.#store);
    this.#list = { relist: this.#scope.beginRelist(), taken: undefined };
  }

  move(move: Move): void {
    switch (move.type) {
      case "write":
        this.#write(move.name, move.on, move.own);
        break;
      case "delete":
        this.#delete(move.name, move.own);
        break;
      case "response":
        this.#respond(move.which);
        break;
      case "watch":
        this.#watch(move.events);
        break;
      case "bookmark":
        // A bookmark carries the position of the watch: everything up to the next change that it has not delivered yet.
        if (this.#list === undefined) this.#scope.bookmark(String(this.#emitted));
        break;
      case "askList":
        this.#list ??= { relist: this.#scope.beginRelist(), taken: undefined };
        break;
      case "takeList":
        if (this.#list !== undefined && this.#list.taken === undefined)
          this.#list.taken = { version: this.#version, objects: this.#selected() };
        break;
      case "receiveList":
        this.#receiveList();
        break;
    }
    this.#check();
  }

  /** Everything in flight arrives; then the cache must equal the server. */
  settle(): void {
    while (this.#responses.length > 0) this.move({ type: "response", which: 0 });
    if (this.#list !== undefined) {
      this.move({ type: "takeList" });
      this.move({ type: "receiveList" });
    }
    this.move({ type: "watch", events: Number.POSITIVE_INFINITY });
    const want = this.#selected().map(({ name, uid, version }) => `${name} ${uid} ${version}`);
    expect(this.#shown().sort()).toEqual(want.sort());
  }

  #write(name: string, on: boolean, own: boolean): void {
    const before = this.#server.get(name);
    this.#version += 1;
    if (before === undefined) this.#uids += 1;
    const after = { name, uid: before?.uid ?? `u${this.#uids}`, version: this.#version, on };
    this.#server.set(name, after);
    this.#history.push({ version: this.#version, before, after });
    if (!own) return;
    const object = { ...configMap(`ns/${name}`, after.version, metaOf(after)) };
    this.#responses.push({ write: { type: "written", resource: CONFIG_MAPS, object }, version: this.#version });
  }

  #delete(name: string, own: boolean): void {
    const before = this.#server.get(name);
    if (before === undefined) return;
    this.#version += 1;
    this.#server.delete(name);
    this.#history.push({ version: this.#version, before, after: undefined });
    const key = { namespace: "ns", name };
    const write: AcceptedWrite = { type: "gone", resource: CONFIG_MAPS, key, uid: before.uid };
    if (own) this.#responses.push({ write, version: this.#version });
  }

  #respond(which: number): void {
    const [response] = this.#responses.splice(which % Math.max(1, this.#responses.length), 1);
    if (response === undefined) return;
    mergeWrite(response.write, {
      type: CONFIG_MAPS,
      store: this.#store,
      shape: shapeConfigMap,
      scopeOf: () => this.#scope,
      labelSelector: parseLabelSelector(this.#selective ? "state=on" : ""),
      hasFieldSelector: false,
    });
    this.#checkReadYourWrite(response.write, response.version);
  }

  #watch(events: number): void {
    if (this.#list !== undefined) return;
    for (const change of this.#history.filter(({ version }) => version > this.#emitted).slice(0, events)) {
      this.#emitted = change.version;
      const { before, after } = change;
      const was = before !== undefined && this.#selects(before);
      if (after !== undefined && this.#selects(after)) this.#scope.put(entryOf(after));
      else if (was) this.#scope.remove(entryOf({ ...before, version: change.version }));
    }
  }

  #receiveList(): void {
    if (this.#list?.taken === undefined) return;
    const { relist, taken } = this.#list;
    for (const object of taken.objects) relist.put(entryOf(object));
    this.#list = undefined;
    expect(relist.commit(String(taken.version))).toEqual({ rewound: false });
    this.#emitted = taken.version;
  }

  #hear({ type, object, previous }: CacheEvent<ConfigMap>): void {
    const { name = "", uid = "", resourceVersion } = object.metadata ?? {};
    const version = Number(resourceVersion);
    const known = this.#believed.get(name);
    if (type === "added") expect(known, `${name} is added twice`).toBeUndefined();
    else expect(known?.uid, `${name} is ${type} without having been added`).toBe(uid);
    if (type !== "added") expect(previous?.metadata?.resourceVersion).toBe(String(known?.version));
    if (type === "deleted") {
      this.#believed.delete(name);
      return;
    }
    expect(version, `${name} goes back`).toBeGreaterThan(this.#newest.get(uid) ?? 0);
    expect(this.#deletedByUs, `${name} comes back from the dead`).not.toContain(uid);
    this.#newest.set(uid, version);
    this.#believed.set(name, { uid, version });
  }

  /** After the response to an own write the cache shows it or something newer: a read needs no request. */
  #checkReadYourWrite(write: AcceptedWrite, version: number): void {
    const uid = write.type === "gone" ? write.uid : write.object.metadata?.uid;
    const name = write.type === "gone" ? write.key.name : write.object.metadata?.name;
    const shown = this.#store.get({ namespace: "ns", name: name ?? "" });
    if (write.type === "gone") {
      this.#deletedByUs.add(uid ?? "");
      expect(shown?.uid).not.toBe(uid);
      return;
    }
    if (shown?.uid === uid) expect(Number(shown?.version)).toBeGreaterThanOrEqual(version);
    else if (!this.#selective || write.object.metadata?.labels?.["state"] === "on") {
      const undone = this.#history.some(
        (change) => change.version > version && change.before?.uid === uid && !this.#selects(change.after),
      );
      expect(undone, `${name} written at ${version} does not show`).toBe(true);
    }
  }

  #check(): void {
    const believed = [...this.#believed].map(([name, { uid, version }]) => `${name} ${uid} ${version}`);
    expect(this.#shown().sort()).toEqual(believed.sort());
    expect(this.#store.list()).toHaveLength(this.#store.size);
    expect(this.#store.byIndex("state", "on").length + this.#store.byIndex("state", "off").length).toBe(
      this.#store.size,
    );
  }

  #shown(): string[] {
    return this.#store.entries().map(({ name, uid, version }) => `${name} ${uid} ${version}`);
  }

  #selected(): ServerObject[] {
    return [...this.#server.values()].filter((object) => this.#selects(object));
  }

  #selects(object: ServerObject | undefined): boolean {
    return object !== undefined && (!this.#selective || object.on);
  }
}

const metaOf = ({ uid, on }: ServerObject) => ({ uid, labels: { state: on ? "on" : "off" } });
const entryOf = (object: ServerObject) => entry(`ns/${object.name}`, object.version, metaOf(object));
