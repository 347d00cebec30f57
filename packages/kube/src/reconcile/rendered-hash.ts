// A hash of the rendered object in an annotation of the live one. It shows that the rendering has changed, even where a
// field that is no longer rendered leaves no other trace. The annotation is the caller's.
import { jsonHash } from "./json-hash.ts";

/** The part of an object that carries the hash. */
export interface RenderedObject {
  readonly metadata?: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly generation?: number;
  };
}

/** `metadata.generation` of an object whose spec was never changed. */
const NEVER_CHANGED = 1;

/** The rendered object with its hash in the annotation. By default all of it is hashed. */
export function withRenderedHash<T extends RenderedObject>(
  rendered: T,
  annotation: string,
  hash = jsonHash(rendered),
): T {
  const annotations = { ...rendered.metadata?.annotations, [annotation]: hash };
  return { ...rendered, metadata: { ...rendered.metadata, annotations } };
}

/** Whether `live` was written from an equal rendering: any other difference was made by another writer. */
export function hasSameRenderedHash(live: RenderedObject, rendered: RenderedObject, annotation: string): boolean {
  return hashOf(live, annotation) === hashOf(rendered, annotation);
}

/**
 * Whether `live` was created from an equal rendering and its spec never changed since. Then it needs no comparison:
 * whatever the API server or a webhook made of it, creating it again would give the same.
 */
export function isUntouchedRendering(live: RenderedObject, rendered: RenderedObject, annotation: string): boolean {
  return (
    hashOf(live, annotation) !== undefined &&
    hasSameRenderedHash(live, rendered, annotation) &&
    live.metadata?.generation === NEVER_CHANGED
  );
}

const hashOf = ({ metadata }: RenderedObject, annotation: string): string | undefined =>
  metadata?.annotations?.[annotation];
