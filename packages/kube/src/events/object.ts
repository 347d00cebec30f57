// Events as the API server stores them (events.k8s.io/v1), and as controllers record them. Everything here is pure;
// sending and aggregating live elsewhere.
import { microTime } from "../core/micro-time.ts";
import type { DeepReadonly, KubeObject } from "../core/object.ts";
import { defineResource } from "../core/resource.ts";

/** The object that an event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** An event to record. */
export interface EventNote<Reason extends string = string> {
  readonly regarding: ObjectReference;
  readonly type: "Normal" | "Warning";
  /** Why: a short token of at most 128 characters. */
  readonly reason: Reason;
  /** What the controller was doing: a short token of at most 128 characters. Required. */
  readonly action: string;
  /** A sentence. Truncated at 1 KiB. */
  readonly note: string;
}

/** Where controllers record events. Never throws and never waits. */
export interface EventSink<Reason extends string = string> {
  record(event: EventNote<Reason>): void;
}

/** An Event as the API server stores it, in `events.k8s.io/v1`. */
export interface KubeEvent extends KubeObject {
  eventTime?: string;
  type?: string;
  reason?: string;
  action?: string;
  note?: string;
  regarding?: ObjectReference;
  reportingController?: string;
  reportingInstance?: string;
  series?: EventSeriesCount;
}

export interface EventSeriesCount {
  readonly count: number;
  readonly lastObservedTime: string;
}

/** The kind of events, for reading them. */
export const eventResource = defineResource<KubeEvent>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
});

const TOKEN_LIMIT = 128;
const NOTE_LIMIT_BYTES = 1024;
const ELLIPSIS = "...";
/** With the dot and 16 hexadecimal digits the name stays within 253 characters. */
const NAME_LIMIT = 236;

/** The reference of an event to a stored object. */
export function referenceTo(object: DeepReadonly<KubeObject>): ObjectReference {
  const { apiVersion = "", kind = "", metadata: { namespace, name = "", uid, resourceVersion } = {} } = object;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** Events are stored in the namespace of their object; those of cluster-scoped objects in "default". */
export function eventNamespace(regarding: ObjectReference): string {
  return regarding.namespace === undefined || regarding.namespace === "" ? "default" : regarding.namespace;
}

/** The event within the API's limits. */
export function withinLimits(event: EventNote): EventNote {
  return {
    ...event,
    reason: event.reason.slice(0, TOKEN_LIMIT),
    action: event.action.slice(0, TOKEN_LIMIT),
    note: cutBytes(event.note, NOTE_LIMIT_BYTES),
  };
}

/** Truncates to this many bytes of UTF-8 without splitting a character. */
export function cutBytes(value: string, limitBytes: number): string {
  if (Buffer.byteLength(value) <= limitBytes) return value;
  const bytes = Buffer.from(value);
  let end = limitBytes - ELLIPSIS.length;
  // Bytes 10xxxxxx continue a character: step back to where it starts.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString() + ELLIPSIS;
}

export interface EventIdentity {
  readonly reportingController: string;
  readonly reportingInstance: string;
  /** Makes the object's name unique. */
  readonly suffix: string;
}

/** The object to create for an event that has occurred `count` times. */
export function renderEvent(
  event: EventNote,
  identity: EventIdentity,
  times: { readonly firstMs: number; readonly lastMs: number; readonly count: number },
): KubeEvent {
  const { reportingController, reportingInstance, suffix } = identity;
  const base = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(event.regarding.name)
    ? event.regarding.name.slice(0, NAME_LIMIT).replace(/[.-]+$/, "")
    : event.regarding.kind.toLowerCase();
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: `${base}.${suffix}`, namespace: eventNamespace(event.regarding) },
    eventTime: microTime(times.firstMs),
    type: event.type,
    reason: event.reason,
    action: event.action,
    note: event.note,
    regarding: event.regarding,
    reportingController,
    reportingInstance,
    ...(times.count < 2 ? {} : { series: renderSeries(times) }),
  };
}

export function renderSeries(times: { readonly lastMs: number; readonly count: number }): EventSeriesCount {
  return { count: times.count, lastObservedTime: microTime(times.lastMs) };
}
