// Links between the pages of the repository: which a page has, which headings they may point at, and which point at nothing. Looks at
// text and file names only; addresses on the web are not visited.
import { dirname, join, normalize } from "node:path";

export interface DocLink {
  readonly line: number;
  readonly target: string;
}

/** Relative links and images outside of code. */
export function linksOf(text: string): readonly DocLink[] {
  const links: DocLink[] = [];
  for (const { line, content } of proseOf(text)) {
    const prose = content.replaceAll(/`[^`]*`/g, "");
    const targets = [...prose.matchAll(/\]\((?<url>[^()\s]+)\)|(?:src|srcset|href)="(?<attribute>[^"]+)"/g)];
    for (const { groups } of targets) {
      const target = groups?.["url"] ?? groups?.["attribute"] ?? "";
      if (!/^[a-z][a-z+.-]*:/i.test(target)) links.push({ line, target });
    }
  }
  return links;
}

/** The anchors of a page, as GitHub makes them of its headings. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const { content } of proseOf(text)) {
    const heading = /^#{1,6} (?<title>.+)$/.exec(content)?.groups?.["title"];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
}

/** Lower case, without punctuation, blanks as dashes; of a link only its text counts. */
function slugOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").trim();
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** What the links of one page need: `undefined` for a path that does not exist, the text of a page otherwise ("" if it is no page). */
export type ReadTarget = (path: string) => string | undefined;

/** One sentence per link that leads nowhere. */
export function deadLinksOf(page: string, text: string, read: ReadTarget): readonly string[] {
  return linksOf(text).flatMap(({ line, target }) => {
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? page : normalize(join(dirname(page), decodeURIComponent(path))).replace(/\/$/, "");
    const found = path === "" ? text : read(file);
    if (found === undefined) return [`${page}:${line}: ${file} does not exist`];
    if (anchor === undefined || anchorsOf(found).has(anchor)) return [];
    return [`${page}:${line}: ${file} has no heading for #${anchor}`];
  });
}

function* proseOf(text: string): Generator<{ readonly line: number; readonly content: string }> {
  let fence = "";
  for (const [index, content] of text.split("\n").entries()) {
    const ticks = /^ *(?<ticks>```+)/.exec(content)?.groups?.["ticks"];
    if (fence === "" && ticks === undefined) yield { line: index + 1, content };
    else if (fence === "") fence = ticks ?? "";
    else if (content.trim() === fence) fence = "";
  }
}
