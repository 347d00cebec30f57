// Watch caches: objects of one kind, kept current by a watch, read-only.
export {
  type CacheEvent,
  type CacheListener,
  type CacheObserver,
  type CacheOptions,
  type CacheTimings,
  createObjectCache,
  type ObjectCache,
} from "./cache.ts";
