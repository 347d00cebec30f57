// Error messages without the values they quote. The API server, webhooks and the operator quote the offending value,
// and for a misspelled field the API server quotes the whole live object. A plan ends up in logs of pipelines, so
// paths and reasons are kept and values are removed. Pure.
import type { KubeApiError } from "@firebolt-operator/kube";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { formsOf } from "../bundle/known-secrets.ts";

const HIDDEN = "(hidden)";
/** Shorter values are not removed: they would hide words of the message itself. */
const SHORTEST_SECRET = 4;
/** Longer messages are cut. */
const MAX_TEXT = 600;

/** The API server's message for a document whose rules it did not check because of other errors. It names no field. */
const NOT_CHECKED = /some validation rules were not checked/;
const MORE = "more fields may be wrong: some rules are checked only once these are corrected";

/** One line per field, if the server names them. The values of `objects` are removed. */
export function rejectionLines(error: KubeApiError, objects: readonly unknown[]): readonly string[] {
  const fields = unknownFields(error.message);
  if (fields.length > 0) return fields;
  const hide = hiderOf(objects);
  const causes = error.causes.flatMap(({ field, message = "" }) => {
    if (message === "" || NOT_CHECKED.test(message)) return [];
    return [field === undefined ? message : `${field}: ${message}`];
  });
  const texts = (causes.length > 0 ? causes : [error.serverMessage]).map((text) => hide(withoutValues(text)));
  const isPartial = error.causes.some(({ message = "" }) => NOT_CHECKED.test(message));
  return [...new Set([...texts, ...(isPartial ? [MORE] : [])])];
}

/** Whether the API server has rejected the fields of a server-side apply, which it reports as an internal error. */
export const isSchemaMismatch = (message: string): boolean =>
  /failed to create typed (?:patch|live) object|field not declared in schema/.test(message);

/**
 * As violationText, but a value only where it is a number, a switch or the name of another object, outside of what
 * people choose freely.
 */
export function safeViolationText({ path, type, value, detail }: Violation): string {
  const isFree = path.split(/[.[\]]/).some((field) => FREE.has(field));
  const shows = !isFree && (typeof value === "number" || typeof value === "boolean" || /Ref$/.test(path));
  const shown = shows && value !== undefined ? `: ${JSON.stringify(value)}` : "";
  return `${path}: ${type}${shown}${detail === "" ? "" : `: ${detail}`}`;
}

const STRICT = /strict decoding error: ((?:(?:unknown|duplicate) field "(?:[^"\\]|\\.)*"(?:, )?)+)/;
const TYPED =
  /(\.[A-Za-z][^\s:]*(?:\[[^\]]*\][^\s:]*)*): (field not declared in schema|expected [a-z]+(?: \([^)]*\))?)/g;

/** Misspelled fields and values of the wrong type, as client-side and server-side apply report them. */
function unknownFields(message: string): readonly string[] {
  const strict = STRICT.exec(message)?.[1] ?? "";
  const named = [...strict.matchAll(/(unknown|duplicate) field "((?:[^"\\]|\\.)*)"/g)].map(
    ([, what, field]) => `${field}: ${what} field`,
  );
  const typed = isSchemaMismatch(message)
    ? [...message.matchAll(TYPED)].map(
        ([, path = "", what = ""]) => `${path.slice(1)}: ${what.startsWith("field") ? "unknown field" : what}`,
      )
    : [];
  return [...new Set([...named, ...typed])];
}

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
/** A value in Go's or JSON's notation: a string, or anything between brackets up to the last one. */
const VALUE = new RegExp(
  String.raw`\b(Invalid|Unsupported|Duplicate) value: (?:${QUOTED}|(?:map|\[\]|\{|\[)[\s\S]*[}\])])`,
  "g",
);

/**
 * Fields whose content people choose freely. Names, references and images are what messages are about, and are kept.
 */
const FREE: ReadonlySet<string> = new Set([
  "customEngineConfig",
  "annotations",
  "args",
  "command",
  "value",
  "volumeAttributes",
  "options",
  "parameters",
  "content",
]);
/** A number or a switch as the value of such a field, or of one below it. */
const FREE_VALUE = new RegExp(
  String.raw`(\b(?:${[...FREE].join("|")})\b[^\s:]{0,400}: )(Invalid|Unsupported|Duplicate) value: (?:-?[\d.]+(?:e[+-]?\d+)?|true|false)\b`,
  "g",
);

/**
 * Numbers and switches stay where they are no secrets, and mostly what is wrong: not in fields whose content people
 * choose freely.
 */
export function withoutValues(text: string): string {
  return text
    .replace(VALUE, "$1 value")
    .replace(FREE_VALUE, "$1$2 value")
    .replace(/, got [\s\S]*$/, "");
}

/** Removes the values of the objects from a message. */
function hiderOf(objects: readonly unknown[]): (text: string) => string {
  const secrets = [...new Set(objects.flatMap((object) => freeTexts(object)))]
    .filter((value) => value.trim().length >= SHORTEST_SECRET)
    .flatMap(formsOf)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
    return hidden.length > MAX_TEXT ? `${hidden.slice(0, MAX_TEXT)}\u2026` : hidden;
  };
}

function freeTexts(value: unknown, isFree = false): readonly string[] {
  if (typeof value === "string") return isFree ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((entry) => freeTexts(entry, isFree));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => freeTexts(inner, isFree || FREE.has(key)));
}
