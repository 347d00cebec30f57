import { expect, test } from "vitest";
import { signatureOf } from "./signature.ts";

test.each([
  ["export function f(): void {\n}", "f(): void"],
  [
    "export function f<T extends Base>(\n  cache: Cache<T>,\n  options: { a?: number } = {},\n): Promise<T> {\n}",
    "f<T extends Base>(cache: Cache<T>, options: { a?: number } = {}): Promise<T>",
  ],
  ['export function f(): { readonly type: "gone" } {\n}', 'f(): { readonly type: "gone" }'],
  ["export function f(a: (b: string) => void): () => void {\n}", "f(a: (b: string) => void): () => void"],
  ["export function f(a: A): A | { b: C } {\n}", "f(a: A): A | { b: C }"],
  ["export function f(value: unknown): value is Fields {\n}", "f(value: unknown): value is Fields"],
])("%j", (source, want) => {
  expect(signatureOf(source, "export function".length, "f")).toBe(want);
});
