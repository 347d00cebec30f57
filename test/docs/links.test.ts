// The checker of links, on texts made for it.
import { expect, test } from "vitest";
import { anchorsOf, deadLinksOf, linksOf } from "./support/links.ts";

test("anchors are those of GitHub", () => {
  const text =
    "# A title\n## `kubectl firebolt`: what, and *why*?\n## A title\n```\n# no heading\n```\n### [Link](x.md) & more\n";
  expect([...anchorsOf(text)]).toEqual(["a-title", "kubectl-firebolt-what-and-why", "a-title-1", "link--more"]);
});

test("links outside of code, and only those within the repository", () => {
  const text = [
    "[a](b.md#c), ![picture](images/a.svg) and `[not](this)`",
    "```\n[nor](this)\n```",
    "[web](https://example.com/a.md) [mail](mailto:a@b.c)",
    '<img src="images/b.svg" alt="">',
  ].join("\n");
  expect(linksOf(text)).toEqual([
    { line: 1, target: "b.md#c" },
    { line: 1, target: "images/a.svg" },
    { line: 6, target: "images/b.svg" },
  ]);
});

test("a dead file, a dead heading and nothing else", () => {
  const pages: Readonly<Record<string, string>> = { "docs/b.md": "## There\n", src: "", "README.md": "" };
  const text =
    "# Here\n[1](b.md) [2](b.md#there) [3](../src/) [4](#here) [5](c.md) [6](b.md#gone) [7](#gone) [8](../README.md)";
  expect(deadLinksOf("docs/a.md", text, (path) => pages[path])).toEqual([
    "docs/a.md:2: docs/c.md does not exist",
    "docs/a.md:2: docs/b.md has no heading for #gone",
    "docs/a.md:2: docs/a.md has no heading for #gone",
  ]);
});
