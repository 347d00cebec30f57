// Just enough XML to read the metadata service's configuration: elements, text, the five named entities and character numbers.
// Attributes, comments in odd places and anything else are refused: the operator never writes them.

export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const TOKEN = /<\?xml[^?]*\?>|<!--(?:(?!--).)*-->|<(\/?)([A-Za-z_][\w.-]*)\s*(\/?)>|([^<]+)/gsy;

interface OpenElement {
  readonly name: string;
  text: string;
  readonly children: XmlElement[];
}

export function parseXml(source: string): XmlElement {
  const root: OpenElement = { name: "", text: "", children: [] };
  const open: OpenElement[] = [root];
  let end = 0;
  for (const { 0: token, 1: closing, 2: name, 3: empty, 4: text, index } of source.matchAll(TOKEN)) {
    const current = open.at(-1) ?? root;
    end = index + token.length;
    if (text !== undefined) current.text += decode(text);
    else if (name !== undefined && closing === "/") {
      if (current.name !== name || open.length === 1) throw new Error(`</${name}> closes <${current.name}>`);
      open.pop();
    } else if (name !== undefined) {
      const element: OpenElement = { name, text: "", children: [] };
      current.children.push(element);
      if (empty !== "/") open.push(element);
    }
  }
  if (end !== source.length) throw new Error(`not understood: ${source.slice(end, end + 40)}`);
  const [document] = root.children;
  if (open.length > 1) throw new Error(`<${open.at(-1)?.name}> is not closed`);
  if (document === undefined || root.children.length > 1 || root.text.trim() !== "")
    throw new Error("not one root element");
  return document;
}

function decode(text: string): string {
  return text.replaceAll(/&(#x?)?([^;&\s]*);?/g, (whole, number: string | undefined, name: string) => {
    if (!whole.endsWith(";")) throw new Error(`not escaped: ${whole}`);
    if (number !== undefined) return String.fromCodePoint(Number.parseInt(name, number === "#x" ? 16 : 10));
    const character = ENTITIES[name];
    if (character === undefined) throw new Error(`unknown entity ${whole}`);
    return character;
  });
}
