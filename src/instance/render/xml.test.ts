import fc from "fast-check";
import { expect, test } from "vitest";
import { isXmlText, serialiseXml, xmlText } from "./xml.ts";

test("elements are nested, indented and in order", () => {
  expect(serialiseXml("config", { b: { text: "x", flag: true }, a: 1 })).toBe(
    "<config>\n  <b>\n    <text>x</text>\n    <flag>true</flag>\n  </b>\n  <a>1</a>\n</config>\n",
  );
});

test.each([
  ["markup", "</id><evil>1</evil>", "&lt;/id&gt;&lt;evil&gt;1&lt;/evil&gt;"],
  ["entities", "a&amp;b", "a&amp;amp;b"],
  ["a carriage return, which a reader would turn into a newline", "a\rb", "a&#13;b"],
  ["quotes, which need no escape in text", `"'`, `"'`],
])("%s stays a string", (_, text, written) => {
  expect(serialiseXml("id", text)).toBe(`<id>${written}</id>\n`);
});

test.each(["\u0000", "\u0008", "\u001f", "\ud800", "\udc00x", "\ufffe"])("%j cannot be written", (text) => {
  expect(isXmlText(text)).toBe(false);
  expect(() => serialiseXml("id", text)).toThrow(RangeError);
});

test("what was written is parsed back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (text) => {
      fc.pre(isXmlText(text));
      expect(xmlText(serialiseXml("config", { other: "1", id: text }), "id")).toBe(text);
    }),
  );
});
