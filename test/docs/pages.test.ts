// The pages of the repository: no link is broken, and every command is either run by a test or has a reason why it is
// not.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type DocStep, parseDocPage } from "./support/commands.ts";
import { deadLinksOf } from "./support/links.ts";
import { allPages, PLUGIN_PAGE, ROOT, RUN_PAGES } from "./support/pages.ts";

const pages = allPages();
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** A folder, or a file that is no page, has no headings. */
function target(path: string): string | undefined {
  const file = join(ROOT, path);
  if (!existsSync(file)) return undefined;
  return path.endsWith(".md") && statSync(file).isFile() ? readFileSync(file, "utf8") : "";
}

test("the pages are found", () => {
  expect(pages).toEqual(
    expect.arrayContaining(["README.md", "docs/README.md", "docs/adr/0001-runtime-dependencies.md"]),
  );
  expect(pages).toEqual(expect.arrayContaining([...RUN_PAGES]));
});

test.each(pages)("no dead link in %s", (page) => {
  expect(deadLinksOf(page, read(page), target)).toEqual([]);
});

test("docs/README.md leads to every page of docs/", () => {
  const index = read("docs/README.md");
  const own = pages.filter((page) => /^docs\/(?!adr\/|README)/.test(page)).map((page) => page.slice("docs/".length));
  expect(own.filter((page) => !index.includes(`](${page})`))).toEqual([]);
});

describe("commands", () => {
  test.each(RUN_PAGES)("%s: run, or with a reason why not", (page) => {
    expect(parseDocPage(read(page)).problems).toEqual([]);
  });

  // Development pages and the chart's own page: what they show is run by no test of the documentation.
  const others = pages.filter((page) => page.startsWith("docs/") && page !== PLUGIN_PAGE && !isRun(page));
  test.each(others)("%s shows none", (page) => {
    const { steps, problems } = parseDocPage(read(page));
    expect([...steps.filter(({ type }) => type === "command"), ...problems]).toEqual([]);
  });
});

test("README.md shows only commands that a page shows as well, or has a reason", () => {
  const known = new Set(RUN_PAGES.flatMap((page) => parseDocPage(read(page)).steps.map(scriptOf)));
  // Its blocks have no outputs: read as console blocks, with a prompt before every line.
  const blocks = read("README.md").replaceAll(/^```sh\n([^`]*)```$/gm, (_, lines: string) => {
    return `\`\`\`console\n${lines.replaceAll(/^(?=.)/gm, "$ ")}\`\`\``;
  });
  const { steps, problems } = parseDocPage(blocks);
  expect(problems).toEqual([]);
  expect(steps.length).toBeGreaterThan(0);
  expect(steps.map(scriptOf).filter((script) => !known.has(script))).toEqual([]);
});

function scriptOf(step: DocStep): string {
  return "script" in step ? step.script : "";
}

function isRun(page: string): boolean {
  return RUN_PAGES.some((one) => one === page);
}
