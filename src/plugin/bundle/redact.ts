// Takes what may be secret out of Kubernetes objects before they leave the machine: data of Secrets and ConfigMaps, values of
// variables, engine configuration, and the copies of all these that tools leave in annotations. Keys and names stay.
import { isObject, type JsonObject } from "../../podtemplate/shape.ts";

export const REDACTED = "REDACTED";

/** Annotations that hold a whole manifest, or that people put credentials into. */
const DROPPED_ANNOTATIONS: ReadonlySet<string> = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);
const SECRET_NAME =
  /pass(word|wd)?|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key|authorization/i;

/** An object of any kind as it may be shown to others. */
export function redactObject(object: unknown): unknown {
  if (!isObject(object)) return object;
  const { kind } = object;
  const safe = redactFields(object, "");
  if (!isObject(safe)) return safe;
  if (kind === "Secret") return { ...withoutData(safe), keys: keysOf(object["data"], object["stringData"]) };
  if (kind === "ConfigMap") return { ...withoutData(safe), keys: keysOf(object["data"], object["binaryData"]) };
  return safe;
}

/** What class and engine come to, without values of variables and of the engine's configuration. */
export function redactEngineTemplate(effective: object): unknown {
  const plain: unknown = JSON.parse(JSON.stringify(effective));
  if (!isObject(plain)) return plain;
  const config = plain["customConfig"];
  const redacted = redactFields(plain, "");
  if (!isObject(redacted) || !isObject(config)) return redacted;
  return { ...redacted, customConfig: { ...config, config: blank(config["config"]) } };
}

function redactFields(value: unknown, field: string): unknown {
  if (Array.isArray(value))
    return value.map((entry) =>
      field === "args" || field === "command" ? redactArgument(entry) : redactFields(entry, field),
    );
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key === "managedFields") return [];
    if (key === "customEngineConfig") return [[key, blank(inner)]];
    if (key === "annotations") return [[key, redactAnnotations(inner)]];
    if (key === "env" && Array.isArray(inner)) return [[key, inner.map(redactVariable)]];
    return [[key, redactFields(inner, key)]];
  });
  return Object.fromEntries(entries);
}

/** A reference says where a value comes from and is kept; a value is not. */
function redactVariable(variable: unknown): unknown {
  if (!isObject(variable) || !("value" in variable)) return redactFields(variable, "");
  return { ...variable, value: REDACTED };
}

/** `--password=x` keeps its name. What follows a bare `--password` cannot be told from the next argument and stays to the scrubber. */
function redactArgument(argument: unknown): unknown {
  if (typeof argument !== "string") return argument;
  const match = /^([^=\s]+)=(.*)$/s.exec(argument);
  return match !== null && SECRET_NAME.test(match[1] ?? "") ? `${match[1]}=${REDACTED}` : argument;
}

function redactAnnotations(annotations: unknown): unknown {
  if (!isObject(annotations)) return annotations;
  const kept = Object.entries(annotations).filter(([key]) => !DROPPED_ANNOTATIONS.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, SECRET_NAME.test(key) ? REDACTED : value]));
}

/** The same shape with nothing in it. */
export function blank(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blank);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, blank(inner)]));
  return REDACTED;
}

function withoutData({ data: _, stringData: __, binaryData: ___, ...rest }: JsonObject): JsonObject {
  return rest;
}

function keysOf(...maps: readonly unknown[]): readonly string[] {
  return maps.flatMap((map) => (isObject(map) ? Object.keys(map) : []));
}
