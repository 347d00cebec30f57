// From the JSON of a request to the objects that validators take. The API server has applied the CRD's schema before it
// calls, so only what the schema does not cover is checked here; an object that breaks the schema ends in an error, and
// so in a denial.
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";

/** The object does not have the shape of its kind. */
export class UndecodableError extends Error {
  override readonly name = "UndecodableError";
}

export function decodeEngine(object: JsonObject | undefined): FireboltEngine {
  if (!isResource<FireboltEngine>(object))
    throw new UndecodableError("the object has no metadata, or its spec is not an object");
  return object;
}

export function decodeEngineClass(object: JsonObject | undefined): FireboltEngineClass {
  if (!isResource<FireboltEngineClass>(object))
    throw new UndecodableError("the object has no metadata, or its spec is not an object");
  return object;
}

export function decodeInstance(object: JsonObject | undefined): FireboltInstance {
  if (!isResource<FireboltInstance>(object) || !isObject(object.spec))
    throw new UndecodableError("the object has no metadata or no spec");
  return object;
}

function isResource<T>(object: JsonObject | undefined): object is T & JsonObject {
  if (object === undefined || !isObject(object["metadata"])) return false;
  const { spec } = object;
  return spec === undefined || isObject(spec);
}

/** Finalizers can always be removed: an object that is being deleted is not validated. */
export function isBeingDeleted(object: JsonObject | undefined): boolean {
  const metadata = object?.["metadata"];
  if (!isObject(metadata)) return false;
  const { deletionTimestamp } = metadata;
  return typeof deletionTimestamp === "string" && deletionTimestamp !== "";
}

/** Whether labels and annotations are maps of strings, which no schema checks inside a pod template. */
export function isDecodableTemplate(template: unknown): boolean {
  const metadata = isObject(template) ? template["metadata"] : undefined;
  if (!isObject(metadata)) return true;
  return [metadata["labels"], metadata["annotations"]].every(
    (map) =>
      map === undefined || map === null || (isObject(map) && Object.values(map).every((v) => typeof v === "string")),
  );
}
