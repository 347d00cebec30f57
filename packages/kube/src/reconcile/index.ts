// Building blocks of reconcile functions: the status write of a pass, and whether a live object needs to be written.
export { type Comparison, type CoverRules, covers } from "./covers.ts";
export { canonicalJson, jsonHash } from "./json-hash.ts";
export { KEYED_LISTS } from "./merged-parts.ts";
export { PrunedStatus } from "./pruned-status.ts";
export { hasSameRenderedHash, isUntouchedRendering, type RenderedObject, withRenderedHash } from "./rendered-hash.ts";
export { type StatusStore, type StatusWrite, statusStore } from "./status-store.ts";
export { type StatusOutcome, type StatusUpdate, updateStatus } from "./update-status.ts";
