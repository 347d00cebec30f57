// Encodings compared with values computed by hand from X.690.
import { expect, test } from "vitest";
import { element, integer, namedBits, oid, time } from "./der.ts";

const hex = (bytes: Buffer): string => bytes.toString("hex");

test.each([
  { name: "short", length: 127, want: "047f" },
  { name: "one byte", length: 128, want: "048180" },
  { name: "two bytes", length: 65_535, want: "0482ffff" },
])("a length of $length is encoded in its $name form", ({ length, want }) => {
  expect(hex(element(0x04, Buffer.alloc(length))).slice(0, want.length)).toBe(want);
});

test.each([
  { name: "a small number", bytes: [2], want: "020102" },
  { name: "a leading one bit is preceded by a zero byte", bytes: [0x80], want: "02020080" },
  { name: "leading zeros are dropped", bytes: [0, 0, 5], want: "020105" },
  { name: "zero stays", bytes: [0], want: "020100" },
])("integer: $name", ({ bytes, want }) => {
  expect(hex(integer(Buffer.from(bytes)))).toBe(want);
});

test.each([
  { dotted: "2.5.4.3", want: "0603550403" },
  { dotted: "1.2.840.10045.4.3.2", want: "06082a8648ce3d040302" },
])("object identifier $dotted", ({ dotted, want }) => {
  expect(hex(oid(dotted))).toBe(want);
});

test("named bits omit trailing zeros", () => {
  expect(hex(namedBits([0]))).toBe("03020780");
  expect(hex(namedBits([5, 6]))).toBe("03020106");
});

test("years from 2050 on have four digits", () => {
  expect(time(new Date("2049-12-31T23:59:59Z")).toString("latin1")).toBe("\x17\x0d491231235959Z");
  expect(time(new Date("2050-01-01T00:00:00Z")).toString("latin1")).toBe("\x18\x0f20500101000000Z");
});
