// The shape of a schema node: a structural OpenAPI schema as plain data, carrying the TypeScript types of its values.
// Types only: the builders are in builders.ts, and nothing here exists at run time.

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** One entry of x-kubernetes-validations. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  /** JSON path below the node that carries the rule, with a leading dot; the error then names that field. */
  readonly fieldPath?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
}

/** The subset of structural OpenAPI schemas that we use. */
export interface StructuralSchema {
  readonly description?: string;
  readonly type?: "string" | "integer" | "number" | "boolean" | "object" | "array";
  readonly format?: string;
  readonly default?: JsonValue;
  readonly enum?: readonly JsonValue[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly StructuralSchema[];
  readonly items?: StructuralSchema;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly required?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly CelRule[];
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-list-type"?: "atomic" | "map" | "set";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  /** Replaced by the schema of this name in the generator. Never in a finished CRD. */
  readonly $ref?: "PodTemplateSpec";
}

/**
 * Whether a stored object has the field: `defaulted` fields are always present, because the API server sets them on
 * every read, and are optional in a manifest.
 */
export type Presence = "optional" | "defaulted" | "required";

/** A schema with the types of the value as stored (read) and as written in a manifest. */
export interface Node<Stored, Written = Stored, P extends Presence = Presence> {
  readonly schema: StructuralSchema;
  readonly presence: P;
  /** Listed under `required` of the parent. A defaulted field may be listed too. */
  readonly listed: boolean;
  /** Carry the types for inference; never present at run time. */
  readonly stored?: Stored;
  readonly written?: Written;
}

export type AnyNode = Node<unknown, unknown>;
export type Fields = Readonly<Record<string, AnyNode>>;

type Simplify<T> = { [K in keyof T]: T[K] };
type KeysWith<F extends Fields, P extends Presence> = {
  [K in keyof F]: F[K]["presence"] extends P ? K : never;
}[keyof F];

type StoredOf<N> = N extends { readonly stored?: infer S } ? S : never;
type WrittenOf<N> = N extends { readonly written?: infer W } ? W : never;

/** An object of these fields as the API server returns it. */
export type StoredObject<F extends Fields> = Simplify<
  { -readonly [K in KeysWith<F, "required" | "defaulted">]: StoredOf<F[K]> } & {
    -readonly [K in KeysWith<F, "optional">]?: StoredOf<F[K]>;
  }
>;

/** An object of these fields in a manifest. */
export type WrittenObject<F extends Fields> = Simplify<
  { -readonly [K in KeysWith<F, "required">]: WrittenOf<F[K]> } & {
    -readonly [K in KeysWith<F, "optional" | "defaulted">]?: WrittenOf<F[K]>;
  }
>;

/** The type of a stored value, with defaults. */
export type Infer<N extends AnyNode> = StoredOf<N>;
/** The type of a value in a manifest: fields with a default are optional. */
export type InferWritten<N extends AnyNode> = WrittenOf<N>;
