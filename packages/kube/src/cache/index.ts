// Watch caches: one kind, kept current, read-only.
export {
  type CacheEvent,
  type CacheListener,
  type CacheObserver,
  type CacheOptions,
  type CacheTimings,
  createObjectCache,
  type ObjectCache,
} from "./cache.ts";
