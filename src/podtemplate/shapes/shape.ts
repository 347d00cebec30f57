// Normal forms: a part of a pod template as the API server stores it, however it was written. A shape maps a value to
// its normal form; undefined means absent. Both sides of a comparison use the same shape, so that what the server adds,
// drops or rewrites never looks like a change. Shapes never change their input.
import { formatQuantity, parseQuantity, roundedToMilli } from "../../api/values/quantity.ts";

export type Shape = (value: unknown) => unknown;
export type JsonObject = { readonly [key: string]: unknown };

/** A shape for every field of T: a field that a newer Kubernetes adds does not compile until its shape is given. */
export type FieldShapes<T> = { readonly [K in keyof Required<T>]: Shape };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A plain Go value: the empty string, zero and false are the same as absent. */
export const scalar: Shape = (value) =>
  value === null || value === "" || value === 0 || value === false ? undefined : value;

/** A Go pointer: only null is the same as absent. */
export const pointer: Shape = (value) => value ?? undefined;

/** A plain value that the server replaces by `filled` when it is empty. */
export const scalarOr =
  (filled: string | number): Shape =>
  (value) =>
    scalar(value) ?? filled;

/** A pointer that the server sets to `filled` when it is absent. */
export const pointerOr =
  (filled: string | number | boolean): Shape =>
  (value) =>
    value ?? filled;

/** A list of plain values. No list is the same as an empty one. */
export const scalars: Shape = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined);

/** A list of objects. Order matters; no list is the same as an empty one. */
export const listOf =
  (item: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.length > 0 ? value.map((entry) => item(entry ?? {}) ?? {}) : undefined;

/** Strings by key. No map is the same as an empty one; an empty string is a value. */
export const texts: Shape = (value) => mapped(value, (text) => text ?? "");

/** A quantity in canonical form. A value that is not a quantity is kept as written. */
export const quantity: Shape = (value) => {
  const parsed = parseQuantity(value);
  return parsed === undefined ? pointer(value) : formatQuantity(parsed);
};

/** A plain quantity, which the server stores as `0` when it is absent. */
export const quantityOrZero: Shape = (value) => quantity(value) ?? "0";

/** Requests, limits, overhead: the server rounds each up to thousandths. */
export const resourceList: Shape = (value) =>
  mapped(value, (entry) => {
    const parsed = parseQuantity(entry);
    return parsed === undefined ? entry : formatQuantity(roundedToMilli(parsed));
  });

/** A struct behind a pointer: `{}` is not the same as absent. `finish` sets defaults that depend on several fields. */
export function object<T>(fields: FieldShapes<T>, finish?: (normal: Record<string, unknown>) => void): Shape {
  const shapes = new Map<string, Shape>(Object.entries<Shape>(fields));
  const filledIn = [...shapes].filter(([, shape]) => shape(undefined) !== undefined);
  return (value) => {
    if (!isObject(value)) return undefined;
    const normal: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      // A field that this operator does not know is compared as it is.
      const field = (shapes.get(key) ?? pointer)(value[key]);
      if (field !== undefined) normal[key] = field;
    }
    for (const [key, shape] of filledIn) if (!(key in normal)) normal[key] = shape(undefined);
    finish?.(normal);
    return normal;
  };
}

/** A struct held by value: absent is the same as `{}`, and an empty result is absent. */
export function embedded<T>(fields: FieldShapes<T>): Shape {
  const shape = object(fields);
  return (value) => {
    const normal = shape(value ?? {});
    return isObject(normal) && Object.keys(normal).length > 0 ? normal : undefined;
  };
}

function mapped(value: unknown, entry: (value: unknown) => unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  return entries.length === 0 ? undefined : Object.fromEntries(entries.map(([key, inner]) => [key, entry(inner)]));
}
