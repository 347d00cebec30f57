// Removes what may be secret from Kubernetes objects before they leave the machine: data of Secrets and ConfigMaps,
// values of variables and headers, engine configuration, and copies of these in annotations. Keys and names are kept.
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";
import { REDACTED } from "./redacted.ts";
import type { Scrubber } from "./scrub.ts";
import { isSecretName } from "./secret-names.ts";

/** Annotations that hold a whole manifest. */
const DROPPED_ANNOTATIONS: ReadonlySet<string> = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);

/** Maps with free keys. */
const FREE_MAPS: ReadonlySet<string> = new Set(["annotations", "labels", "volumeAttributes", "options", "parameters"]);

/** Fields of Kubernetes and of this operator whose names mention keys or Secrets and that hold none. */
const STRUCTURAL =
  /^(?:key|keys|topologyKey|matchLabelKeys|mismatchLabelKeys|keyType|keyPath|credentialBundlePath|secretName|(?:\w+S|s)ecretRef|(?:\w+K|k)eyRef|imagePullSecrets|\w*[tT]oken(?:Age|Expiry|ExpirationSeconds)|automountServiceAccountToken|gmsaCredentialSpecName|signingKeyGeneration|observed\w+)$/;

/** Identifiers of an object: never changed. */
const IDENTIFIERS: ReadonlySet<string> = new Set([
  "apiVersion",
  "kind",
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "image",
  "imageID",
  "containerID",
  "nodeName",
  "key",
  "secretName",
  "object",
  "reason",
  "phase",
  "type",
]);

const AS_IT_IS: Scrubber = { known: (text) => text, text: (text) => text };

/** A redacted object of any kind. */
export function redactObject(object: unknown, scrubber: Scrubber): unknown {
  if (!isObject(object)) return object;
  const { kind } = object;
  if (kind === "Secret") return briefSecret(object, scrubber);
  const safe = redactFields(object, "", scrubber);
  if (!isObject(safe)) return safe;
  return kind === "ConfigMap" ? { ...withoutData(safe), keys: keysOf(object["data"], object["binaryData"]) } : safe;
}

/** The merged class and engine, without values of variables and of the engine's configuration. */
export function redactEngineTemplate(effective: object): unknown {
  const plain: unknown = JSON.parse(JSON.stringify(effective));
  if (!isObject(plain)) return plain;
  const config = plain["customConfig"];
  const redacted = redactFields(plain, "", AS_IT_IS);
  if (!isObject(redacted) || !isObject(config)) return redacted;
  return { ...redacted, customConfig: { ...config, config: blank(config["config"]) } };
}

/** Redacts every string below a value; the shape is kept. */
export function redactFields(value: unknown, field: string, scrubber: Scrubber): unknown {
  if (typeof value === "string") return IDENTIFIERS.has(field) ? scrubber.known(value) : scrubber.text(value);
  if (Array.isArray(value)) {
    if (field === "args" || field === "command") return redactArguments(value, scrubber);
    return value.map((entry) => redactFields(entry, field, scrubber));
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key === "managedFields") return [];
    if (key === "customEngineConfig") return [[key, blank(inner)]];
    if ((key === "env" || key === "httpHeaders") && Array.isArray(inner))
      return [[key, inner.map((entry) => withoutValue(entry, scrubber))]];
    if (FREE_MAPS.has(key) && isObject(inner)) return [[key, redactMap(inner, scrubber)]];
    if (holdsSecret(key, inner, value)) return [[key, blank(inner)]];
    return [[key, redactFields(inner, key, scrubber)]];
  });
  return Object.fromEntries(entries);
}

/** By its own name, or by the name beside it: `{name: password, value: …}`. */
function holdsSecret(key: string, inner: unknown, around: JsonObject): boolean {
  const isText = typeof inner === "string" || (Array.isArray(inner) && inner.some((one) => typeof one === "string"));
  if (!isText) return false;
  if (key === "value") return typeof around["name"] === "string" && isSecretName(around["name"]);
  return isSecretName(key) && !STRUCTURAL.test(key);
}

/** A reference names the source of a value and is kept; a value is removed. */
function withoutValue(entry: unknown, scrubber: Scrubber): unknown {
  if (!isObject(entry) || !("value" in entry)) return redactFields(entry, "", scrubber);
  return { ...entry, value: REDACTED };
}

/** `--password=x` keeps its name; the argument after a bare `--password` is removed unless it is the next long flag. */
function redactArguments(list: readonly unknown[], scrubber: Scrubber): readonly unknown[] {
  return list.map((argument, index) => {
    if (typeof argument !== "string") return argument;
    const before = list[index - 1];
    if (typeof before === "string" && isSecretBehind(before, argument)) return REDACTED;
    if (before === "-u" || before === "--user") return scrubber.text(argument.replace(/:[\s\S]+$/, `:${REDACTED}`));
    const [, name] = /^(-{0,2}[\w.-]+)=./s.exec(argument) ?? [];
    return name !== undefined && isSecretName(name) ? `${name}=${REDACTED}` : scrubber.text(argument);
  });
}

/** `-p` is a password, a port or a path: numbers and paths are kept. */
function isSecretBehind(flag: string, argument: string): boolean {
  if (flag === "-p") return !/^(?:\d{1,5}(?::\d{1,5})?|[./~$].*|--?[a-z][a-z-]*)$/s.test(argument);
  return /^-[^=\s]+$/.test(flag) && isSecretName(flag) && !/^--[a-z][\w.-]*(?:=|$)/.test(argument);
}

/** Tools store whole objects in annotations of their own. */
const MANIFEST = /^\s*[[{][\s\S]*"(?:kind|spec|data)"\s*:/;

function redactMap(map: JsonObject, scrubber: Scrubber): JsonObject {
  const kept = Object.entries(map).filter(([key]) => !DROPPED_ANNOTATIONS.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      const isSecret = isSecretName(key) && value !== "true" && value !== "false";
      const isManifest = typeof value === "string" && MANIFEST.test(value);
      return [key, isSecret || isManifest ? REDACTED : redactFields(value, "", scrubber)];
    }),
  );
}

/** The same shape without values. */
export function blank(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blank);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, blank(inner)]));
  return REDACTED;
}

/** Names, labels, owners and keys: annotations of Secrets hold certificates and copies of the data. */
function briefSecret({ apiVersion, kind, metadata, type, data, stringData }: JsonObject, scrubber: Scrubber): unknown {
  const { name, namespace, labels, ownerReferences, creationTimestamp, deletionTimestamp } = isObject(metadata)
    ? metadata
    : {};
  const about = { name, namespace, labels, ownerReferences, creationTimestamp, deletionTimestamp };
  const known = Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    kind,
    metadata: redactFields(known, "", scrubber),
    type,
    keys: keysOf(data, stringData),
  };
}

function withoutData({ data: _, binaryData: __, ...rest }: JsonObject): JsonObject {
  return rest;
}

function keysOf(...maps: readonly unknown[]): readonly string[] {
  return maps.flatMap((map) => (isObject(map) ? Object.keys(map) : []));
}
