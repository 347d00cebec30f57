// The schema builders: what they write, and which types they infer. The type checks fail in `npm run typecheck`.
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  array,
  boolean,
  enumOf,
  freeObject,
  int32,
  object,
  QUANTITY_MESSAGE,
  quantity,
  required,
  string,
} from "./builders.ts";
import { goDuration } from "./durations.ts";
import type { Infer, InferWritten } from "./schema.ts";

const sample = object(
  {
    name: required(string({ description: "A name.", minLength: 1, pattern: "^a" })),
    count: int32({ description: "A count.", default: 2, minimum: 0, maximum: 9 }),
    enabled: required(boolean({ description: "A switch.", default: false })),
    mode: enumOf(["fast", "safe"], { description: "A mode." }),
    size: quantity({ description: "A size." }),
    tags: array(object({ key: required(string({ description: "A key." })) }, { description: "A tag." }), {
      description: "Tags.",
      minItems: 1,
    }),
    free: freeObject({ description: "Anything." }),
    inner: object(
      { wait: goDuration({ field: "wait", description: "A wait.", default: "1s" }) },
      { description: "Inside.", default: {} },
    ),
  },
  {
    description: "A sample.",
    rules: [{ rule: "self.count > 0", message: "count must be positive", fieldPath: ".count" }],
  },
);

describe("an object", () => {
  test("lists required fields, and a defaulted one only if requested", () => {
    expect(sample.schema.required).toEqual(["name", "enabled"]);
  });

  test("writes every constraint where the API server expects it", () => {
    const { inner, ...properties } = sample.schema.properties ?? {};
    expect({ ...sample.schema, properties }).toEqual({
      description: "A sample.",
      type: "object",
      properties: {
        name: { description: "A name.", type: "string", minLength: 1, pattern: "^a" },
        count: { description: "A count.", type: "integer", format: "int32", default: 2, minimum: 0, maximum: 9 },
        enabled: { description: "A switch.", type: "boolean", default: false },
        mode: { description: "A mode.", type: "string", enum: ["fast", "safe"] },
        size: {
          description: "A size.",
          anyOf: [{ type: "integer" }, { type: "string" }],
          pattern: expect.stringContaining("[KMGTPE]i"),
          "x-kubernetes-int-or-string": true,
          "x-kubernetes-validations": [{ rule: "type(self) == int || isQuantity(self)", message: QUANTITY_MESSAGE }],
        },
        tags: {
          description: "Tags.",
          type: "array",
          minItems: 1,
          items: {
            description: "A tag.",
            type: "object",
            properties: { key: { description: "A key.", type: "string" } },
            required: ["key"],
          },
        },
        free: { description: "Anything.", type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
      required: ["name", "enabled"],
      "x-kubernetes-validations": [{ rule: "self.count > 0", message: "count must be positive", fieldPath: ".count" }],
    });
    expect(inner?.default).toEqual({});
    expect(inner?.properties?.["wait"]?.default).toBe("1s");
  });

  test("can be replaced as a whole", () => {
    expect(object({}, { description: "A reference.", atomic: true }).schema).toEqual({
      description: "A reference.",
      type: "object",
      properties: {},
      "x-kubernetes-map-type": "atomic",
    });
  });
});

test("a stored object has its defaults, a written one may leave them out", () => {
  type Tag = { key: string };
  expectTypeOf<Infer<typeof sample>>().toEqualTypeOf<{
    name: string;
    count: number;
    enabled: boolean;
    mode?: "fast" | "safe";
    size?: string | number;
    tags?: Tag[];
    free?: Record<string, unknown>;
    inner: { wait: string };
  }>();
  expectTypeOf<InferWritten<typeof sample>>().toEqualTypeOf<{
    name: string;
    count?: number;
    enabled?: boolean;
    mode?: "fast" | "safe";
    size?: string | number;
    tags?: Tag[];
    free?: Record<string, unknown>;
    inner?: { wait?: string };
  }>();
});
