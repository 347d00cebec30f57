// A small XML writer: nested maps of strings, numbers and booleans in, indented elements out. Every string is escaped;
// element names are constants and never come from users.

export type XmlValue = string | number | boolean | { readonly [element: string]: XmlValue };

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" };
const UNESCAPES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ESCAPES).map(([character, text]) => [text, character]),
);

/** Whether XML 1.0 can represent this string: most control characters and lone surrogates it cannot. */
export function isXmlText(text: string): boolean {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0).every(
    (code) =>
      code === 0x9 ||
      code === 0xa ||
      code === 0xd ||
      (code >= 0x20 && code <= 0xd7ff) ||
      (code >= 0xe000 && code <= 0xfffd) ||
      code >= 0x10000,
  );
}

/** A document with this root element, ending in a newline. */
export function serialiseXml(root: string, value: XmlValue): string {
  return `${element(root, value, "")}\n`;
}

/** The content of the first element of this name in a document that {@link serialiseXml} wrote. */
export function xmlText(document: string, name: string): string | undefined {
  const match = new RegExp(`<${name}>([^<]*)</${name}>`).exec(document);
  return match?.[1]?.replace(/&(?:amp|lt|gt|#13);/g, (entity) => UNESCAPES[entity] ?? entity);
}

function element(name: string, value: XmlValue, indent: string): string {
  if (typeof value !== "object") return `${indent}<${name}>${escaped(String(value))}</${name}>`;
  const inner = Object.entries(value).map(([child, inside]) => element(child, inside, `${indent}  `));
  return [`${indent}<${name}>`, ...inner, `${indent}</${name}>`].join("\n");
}

function escaped(text: string): string {
  if (!isXmlText(text)) throw new RangeError("a text with control characters cannot be written as XML");
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? character);
}
