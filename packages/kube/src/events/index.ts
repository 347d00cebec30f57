// Kubernetes Events: recorded without waiting, repeats written as series.
export {
  type EventNote,
  type EventSink,
  eventResource,
  type KubeEvent,
  type ObjectReference,
  referenceTo,
} from "./object.ts";
export { createEventRecorder, type EventRecorder, type EventRecorderOptions } from "./recorder.ts";
export { type EventWriter, eventWriter } from "./writer.ts";
