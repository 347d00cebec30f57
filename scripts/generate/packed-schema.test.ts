import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { renderPackedSchema } from "./packed-schema.ts";

const schema = { type: "object", properties: { a: { type: "string" } } } as const;
const heldBy = (text: string) => {
  const packed = /"([A-Za-z0-9+/=]+)";/.exec(text)?.[1] ?? "";
  return JSON.parse(inflateRawSync(Buffer.from(packed, "base64")).toString("utf8")) as unknown;
};

test("what is packed comes out again, and the same text twice", () => {
  const text = renderPackedSchema(schema, undefined);
  expect(heldBy(text)).toEqual(schema);
  expect(renderPackedSchema(schema, text)).toBe(text);
});

test("a committed file stays while it holds the same, and is replaced when it does not", () => {
  const text = renderPackedSchema(schema, undefined);
  const commented = `// as another compressor would have it\n${text}`;
  expect(renderPackedSchema(schema, commented)).toBe(commented);
  expect(renderPackedSchema({ ...schema, description: "new" }, commented)).not.toBe(commented);
  expect(renderPackedSchema(schema, text.replace(/= *\n *"..../, '= "AAAA'))).toBe(text);
});
