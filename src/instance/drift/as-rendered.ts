// Whether a live object needs to be written. A hash of the rendering, stored on the object, shows that the rendering
// has changed (a removed field leaves no other trace); the comparison shows that another writer changed the object.
// What others add is kept where server-side apply merges (annotations, sidecars, ports of a Service) and removed where
// it replaces (rules of a Role, selectors).
import { covers, hasSameRenderedHash, withRenderedHash as withHash } from "@firebolt-operator/kube/reconcile";
import type { V1ObjectMeta } from "../../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { jsonHash } from "../../podtemplate/content-hash.ts";
import { normalPodTemplate } from "../../podtemplate/shapes/server-defaults.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import type { LiveObject, Rendered } from "../model/children.ts";
import { digestData } from "../model/config-map-digest.ts";

export const RENDERED_HASH = "firebolt.io/rendered-hash";

/** The object with the hash of its rendering. */
export function withRenderedHash<T extends Rendered>(object: T): T {
  return withHash(object, RENDERED_HASH);
}

/** The rendering is the one that was last written: every difference comes from another writer. */
export function hasRenderedHashOf(live: LiveObject, rendered: Rendered): boolean {
  return hasSameRenderedHash(live, rendered, RENDERED_HASH);
}

/** `live` as a cache holds it, `rendered` with its hash. */
export function isAsRendered(live: LiveObject, rendered: Rendered): boolean {
  const { labels, annotations } = rendered.metadata;
  const requested = { ...contentOf(rendered), labels, annotations };
  const is = { ...contentOf(live), labels: live.metadata?.labels, annotations: live.metadata?.annotations };
  return covers({ live: normal(is), wanted: normal(requested), rendered: requested, kind: rendered.kind });
}

/**
 * What the API server stored for a write: an admission policy may change it, and repeating the write would not help
 * until either side changes. Labels and annotations of others (a Deployment's revision) belong to neither side.
 */
export function outcomeOf(live: LiveObject, rendered: Rendered): string {
  const { labels, annotations, ownerReferences }: DeepReadonly<V1ObjectMeta> = live.metadata ?? {};
  return jsonHash([
    contentOf(live),
    sameKeys(labels, rendered.metadata.labels),
    sameKeys(annotations, rendered.metadata.annotations),
    ownerReferences,
    rendered.metadata.annotations?.[RENDERED_HASH],
  ]);
}

type Texts = Readonly<Record<string, string>>;

function sameKeys(live: Texts = {}, rendered: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(live).filter(([key]) => Object.hasOwn(rendered, key)));
}

function contentOf(object: LiveObject | Rendered): Record<string, unknown> {
  const { apiVersion: _, kind, metadata: __, ...content } = object;
  const { status: ___, ...rest }: Record<string, unknown> = content;
  const isRendering = kind === "ConfigMap" && "data" in object && !isDigested(object.data);
  return isRendering ? { ...rest, data: digestData(object.data ?? {}) } : rest;
}

function isDigested(data: Readonly<Record<string, string>> | undefined): boolean {
  return Object.values(data ?? {}).every((value) => /^sha256:[0-9a-f]{64}$/.test(value));
}

/**
 * Both sides with the defaults of the API server in their pod templates. Everything else is rendered as it is stored:
 * in a list that is compared whole, a default that is not rendered would look like an addition.
 */
function normal(content: Record<string, unknown>): Record<string, unknown> {
  const { spec } = content;
  if (!isObject(spec) || !("template" in spec)) return content;
  return { ...content, spec: { ...spec, template: normalPodTemplate(spec["template"]) } };
}
