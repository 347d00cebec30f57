// Which engines an event triggers a reconcile of (docs/design/engine.md#one-pass). Status-only changes of an engine,
// changes that no decision reads and deletions of superseded generations do not trigger one: otherwise the operator's
// own writes would keep it busy for ever.
import { type DeepReadonly, formatKey, type KubeObject, type ObjectKey } from "@firebolt-operator/kube";
import type { CacheEvent, ObjectCache } from "@firebolt-operator/kube/cache";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { isEnding } from "../../api/firebolt-instance/held-deletion.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { LABEL } from "../../api/labels.ts";
import type { ChildDeclaration } from "../model/child-kinds.ts";
import { differs } from "../model/child-triggers.ts";
import { generationLabel } from "../model/children.ts";
import { generationsOf } from "../model/stored-state.ts";
import { INDEX } from "./caches.ts";

type Keys = readonly ObjectKey[];
type Engines = ObjectCache<FireboltEngine>;

export function engineOfEngineEvent(event: CacheEvent<FireboltEngine>): Keys {
  return differs(event, ({ metadata }) => [
    metadata?.generation,
    metadata?.annotations,
    metadata?.labels,
    metadata?.finalizers,
    metadata?.deletionTimestamp,
  ])
    ? [keyOfStored(event.object)]
    : [];
}

/** By label, not by owner: an object of an older engine of the same name blocks this one until it is deleted. */
export function engineOfChildEvent<T extends KubeObject>(event: CacheEvent<T>): Keys {
  const keys = [event.object, event.previous].flatMap((object) => (object === undefined ? [] : engineOfLabels(object)));
  return keys.filter((key, index) => keys.findIndex((other) => formatKey(other) === formatKey(key)) === index);
}

/** The engines that an event of a child of this kind triggers. */
export const engineOfDeclared =
  <T extends KubeObject>(engines: Engines, { triggers }: Pick<ChildDeclaration<T>, "triggers">) =>
  (event: CacheEvent<T>): Keys =>
    triggers(event) ? exceptSuperseded(engines, event, engineOfChildEvent(event)) : [];

/** Leaves out deletions of objects whose generation their engine has superseded. */
function exceptSuperseded<T extends KubeObject>(engines: Engines, { type, object }: CacheEvent<T>, keys: Keys): Keys {
  const { metadata } = object;
  if (type !== "deleted" && metadata?.deletionTimestamp === undefined) return keys;
  const generation = generationLabel(metadata);
  return keys.filter((key) => {
    const engine = engines.get(key);
    return generation === undefined || engine === undefined || !isSuperseded(engine, generation);
  });
}

/** Of an engine that is being deleted every event counts: its deletion waits for children. */
function isSuperseded(engine: DeepReadonly<FireboltEngine>, generation: number): boolean {
  const { current, active, draining, highest } = generationsOf(engine);
  const isOld = generation <= highest && generation !== current && generation !== active && generation !== draining;
  return isOld && engine.metadata?.deletionTimestamp === undefined;
}

export const enginesOfInstanceEvent =
  (engines: Engines) =>
  (event: CacheEvent<FireboltInstance>): Keys => {
    const read = (instance: DeepReadonly<FireboltInstance>) => [
      isEnding(instance),
      instance.spec?.id,
      instance.spec?.metricScrapeMode,
      instance.status?.metadataEndpoint,
    ];
    return differs(event, read) ? enginesBy(engines, INDEX.instance, event.object) : [];
  };

export const enginesOfClassEvent =
  (engines: Engines) =>
  (event: CacheEvent<FireboltEngineClass>): Keys => {
    // Not the count of bound engines: it changes with every engine, and would trigger all of them each time.
    const read = ({ metadata, status }: DeepReadonly<FireboltEngineClass>) => {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return [metadata?.uid, metadata?.generation, ready?.status, ready?.reason, ready?.message];
    };
    return differs(event, read) ? enginesBy(engines, INDEX.engineClass, event.object) : [];
  };

function enginesBy(engines: Engines, index: string, object: DeepReadonly<KubeObject>): Keys {
  return engines.byIndex(index, formatKey(keyOfStored(object))).map(keyOfStored);
}

function keyOfStored({ metadata }: DeepReadonly<KubeObject>): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

function engineOfLabels({ metadata }: DeepReadonly<KubeObject>): Keys {
  const name = metadata?.labels?.[LABEL.engine];
  const { namespace } = metadata ?? {};
  return name === undefined || name === "" || namespace === undefined ? [] : [{ namespace, name }];
}
