// The two writes of the event recorder.
import type { CallOptions, KubeClient } from "../client/client.ts";
import type { ObjectKey } from "../core/object.ts";
import { type EventSeriesCount, eventResource, type KubeEvent } from "./object.ts";

/** The two writes of the event recorder. */
export interface EventWriter {
  create(event: KubeEvent, call: CallOptions): Promise<void>;
  /** Fails with NotFound if the Event has expired. */
  setSeries(key: ObjectKey, series: EventSeriesCount, call: CallOptions): Promise<void>;
}

/** Writes events through this client. */
export function eventWriter(client: KubeClient): EventWriter {
  return {
    async create(event, call) {
      await client.create(eventResource, event, call);
    },
    async setSeries(key, series, call) {
      await client.patch(eventResource, key, { type: "merge", body: { series } }, call);
    },
  };
}
