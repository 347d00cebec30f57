// Builders of schema nodes. The options of each builder are the constraints of its type; a `default` makes the field
// `defaulted`. Pure data: the generator renders CRDs and reference pages from it.
import type {
  AnyNode,
  CelRule,
  Fields,
  JsonValue,
  Node,
  Presence,
  StoredObject,
  StructuralSchema,
  WrittenObject,
} from "./schema.ts";

interface CommonOptions {
  readonly description: string;
  readonly rules?: readonly CelRule[];
}

interface StringOptions extends CommonOptions {
  readonly default?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface NumberOptions extends CommonOptions {
  readonly default?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface BooleanOptions extends CommonOptions {
  readonly default?: boolean;
}

interface EnumOptions<V extends string> extends CommonOptions {
  readonly default?: V;
}

interface ArrayOptions extends CommonOptions {
  readonly default?: readonly JsonValue[];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** No value occurs twice; the order has no meaning. */
  readonly set?: true;
}

interface ObjectOptions extends CommonOptions {
  readonly default?: Readonly<Record<string, never>>;
  /** The object is replaced as a whole by server-side apply. */
  readonly atomic?: true;
}

/** `defaulted` when the options hold a default, else `optional`. */
type PresenceOf<O> = O extends { readonly default: unknown } ? "defaulted" : "optional";

export const QUANTITY_PATTERN =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** The options in the order of the CRD. */
function toSchema({ description, rules, ...constraints }: CommonOptions, type: StructuralSchema): StructuralSchema {
  return {
    description,
    ...type,
    ...constraints,
    ...(rules === undefined ? {} : { "x-kubernetes-validations": rules }),
  };
}

function node<Stored, Written, P extends Presence>(schema: StructuralSchema): Node<Stored, Written, P> {
  // The presence follows from the type of the options, as the schema's default does from their value.
  const presence = (schema.default === undefined ? "optional" : "defaulted") as P;
  return { schema, presence, listed: false };
}

export const string = <const O extends StringOptions>(options: O): Node<string, string, PresenceOf<O>> =>
  node(toSchema(options, { type: "string" }));

export const boolean = <const O extends BooleanOptions>(options: O): Node<boolean, boolean, PresenceOf<O>> =>
  node(toSchema(options, { type: "boolean" }));

export const int32 = <const O extends NumberOptions>(options: O): Node<number, number, PresenceOf<O>> =>
  node(toSchema(options, { type: "integer", format: "int32" }));

export const int64 = <const O extends NumberOptions>(options: O): Node<number, number, PresenceOf<O>> =>
  node(toSchema(options, { type: "integer", format: "int64" }));

/** An integer without a format. */
export const integer = <const O extends NumberOptions>(options: O): Node<number, number, PresenceOf<O>> =>
  node(toSchema(options, { type: "integer" }));

/** An RFC 3339 time. */
export const time = <const O extends CommonOptions>(options: O): Node<string, string, "optional"> =>
  node(toSchema(options, { type: "string", format: "date-time" }));

export const enumOf = <const V extends string, const O extends EnumOptions<V>>(
  values: readonly V[],
  options: O,
): Node<V, V, PresenceOf<O>> => node(toSchema(options, { type: "string", enum: values }));

/** Explains the format of a quantity: a violated pattern shows only the expression. */
export const QUANTITY_MESSAGE =
  "must be a quantity, such as 20Gi, 500M or 1.5: a number and at most one unit, of Ki, Mi, Gi, Ti, Pi, Ei, k, M, G, T, P, E or m, without a B";

/** `value` is an expression for an int-or-string; the parser is the API server's own. */
const isQuantityRule = (value: string): string => `type(${value}) == int || isQuantity(${value})`;

/** Key by key: iterating over an unbounded map exceeds the API server's cost limit for rules. */
const NAMED_RESOURCES = ["cpu", "memory", "ephemeral-storage"] as const;

/** A Kubernetes quantity: `1Gi`, `500m`, `2`. */
export const quantity = <const O extends CommonOptions & { readonly default?: string | number }>(
  options: O,
): Node<string | number, string | number, PresenceOf<O>> =>
  node(
    toSchema(
      { rules: [{ rule: isQuantityRule("self"), message: QUANTITY_MESSAGE }], ...options },
      {
        anyOf: [{ type: "integer" }, { type: "string" }],
        pattern: QUANTITY_PATTERN,
        "x-kubernetes-int-or-string": true,
      },
    ),
  );

const quantityRuleOf = (resource: string): CelRule => ({
  rule: `!('${resource}' in self) || ${isQuantityRule(`self['${resource}']`)}`,
  message: `${resource} ${QUANTITY_MESSAGE}`,
});

/** Quantities by name, as in the requests and limits of a container. */
export const quantityMap = (
  options: CommonOptions,
): Node<Record<string, string | number>, Record<string, string | number>, "optional"> =>
  node(
    toSchema(
      { rules: NAMED_RESOURCES.map(quantityRuleOf), ...options },
      {
        type: "object",
        additionalProperties: {
          anyOf: [{ type: "integer" }, { type: "string" }],
          pattern: QUANTITY_PATTERN,
          "x-kubernetes-int-or-string": true,
        },
      },
    ),
  );

export const array = <S, W, const O extends ArrayOptions>(
  items: Node<S, W>,
  options: O,
): Node<S[], W[], PresenceOf<O>> => {
  const { set, ...rest }: ArrayOptions = options;
  const type = { type: "array", items: items.schema } as const;
  return node(toSchema(rest, set === undefined ? type : { ...type, "x-kubernetes-list-type": "set" }));
};

/** The fields are the properties; those marked `required` are listed. */
export const object = <const F extends Fields, const O extends ObjectOptions>(
  fields: F,
  options: O,
): Node<StoredObject<F>, WrittenObject<F>, PresenceOf<O>> => {
  const { atomic, ...rest }: ObjectOptions = options;
  const entries: [string, AnyNode][] = Object.entries(fields);
  const required = entries.filter(([, field]) => field.listed).map(([name]) => name);
  return node(
    toSchema(rest, {
      type: "object",
      properties: Object.fromEntries(entries.map(([name, field]) => [name, field.schema])),
      ...(required.length === 0 ? {} : { required }),
      ...(atomic === undefined ? {} : { "x-kubernetes-map-type": "atomic" }),
    }),
  );
};

/** A JSON object with any content, stored untouched. */
export const freeObject = (
  options: CommonOptions,
): Node<Record<string, unknown>, Record<string, unknown>, "optional"> =>
  node(toSchema(options, { type: "object", "x-kubernetes-preserve-unknown-fields": true }));

/** Lists the field under `required` of its object. With a default it may still be omitted from a manifest. */
export const required = <S, W, P extends Presence>(
  field: Node<S, W, P>,
): Node<S, W, P extends "defaulted" ? "defaulted" : "required"> => ({
  schema: field.schema,
  presence: (field.presence === "defaulted" ? "defaulted" : "required") as P extends "defaulted"
    ? "defaulted"
    : "required",
  listed: true,
});
