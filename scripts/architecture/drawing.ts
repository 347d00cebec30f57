// The folder graph of architecture.json as Markdown, for docs/architecture.md: a Mermaid drawing of the layers and the exact rules in tables.
import { isBelow, type Rules } from "./rules.ts";

export const ARCHITECTURE_PAGE = "docs/architecture.md";
const START = "<!-- generated from architecture.json by npm run generate -->";
const END = "<!-- end of the generated part -->";

/** The page with its generated part replaced. */
export function renderArchitecturePage(page: string, rules: Rules): string {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`${ARCHITECTURE_PAGE} has no generated part`);
  return `${page.slice(0, start)}${START}\n${renderParts(rules)}\n${page.slice(end)}`;
}

function renderParts(rules: Rules): string {
  const product = rules.folders.filter((name) => /^(src|packages\/kube)(\/\w[\w-]*)?$/.test(name) && !isInternal(name));
  const dev = rules.folders.filter((name) => name.startsWith("dev/"));
  const src = rules.folders.filter((name) => name.startsWith("src/"));
  return [drawGraph(product, rules), renderTable(src, rules), "Below `dev/`:", drawGraph(dev, rules)].join("\n\n");
}

/** Folders that only the package itself imports. */
const isInternal = (name: string): boolean => /^packages\/kube\/(src|test|testing|examples|scripts)$/.test(name);

/** An arrow that follows from two others is left out: it would only hide the layers. */
export function drawGraph(shown: readonly string[], rules: Rules): string {
  const next = new Map(shown.map((name) => [name, rules.importsOf(name).filter((other) => shown.includes(other))]));
  const reaches = (from: string, to: string): boolean =>
    (next.get(from) ?? []).some((other) => other === to || reaches(other, to));
  const arrows = [...next].flatMap(([from, targets]) =>
    targets
      .filter((to) => !targets.some((other) => other !== to && reaches(other, to)))
      .map((to) => `  ${from} --> ${to}`),
  );
  return ["```mermaid", "graph TD", ...arrows, "```"].join("\n");
}

function renderTable(shown: readonly string[], rules: Rules): string {
  const rows = shown.map((name) => {
    // A folder in the list stands for those below it as well.
    const all = rules.importsOf(name);
    const targets = all.filter((target) => !all.some((other) => isBelow(target, other)) && !isBelow(target, name));
    const list = [...targets.map(code), ...rules.typesOf(name).map((target) => `types of ${code(target)}`)];
    return `| ${code(name)} | ${list.join(", ") || "nothing"} |`;
  });
  return ["| folder | may import |", "| --- | --- |", ...rows].join("\n");
}

const code = (text: string): string => `\`${text}\``;
