import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderApiPage } from "./api-page.ts";

const FOLDER = join(import.meta.dirname, "..");
const page = renderApiPage(FOLDER);
const names = [...page.matchAll(/^- `+ ?(\w+)/gm)].map(([, name = ""]) => name);

test("docs/api.md is up to date", () => {
  // `npm run generate` writes it.
  expect(readFileSync(join(FOLDER, "docs/api.md"), "utf8")).toBe(page);
});

test("every runtime export of an entry is on the page", async () => {
  const manifest = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as {
    exports: Record<string, string>;
  };
  const entries = Object.values(manifest.exports).filter((path) => path.endsWith(".ts"));
  for (const path of entries) {
    const entry = (await import(join(FOLDER, path))) as Readonly<Record<string, unknown>>;
    expect(Object.keys(entry).filter((name) => !names.includes(name))).toEqual([]);
  }
  expect(entries.length).toBeGreaterThan(10);
});

test("every export has a comment", () => {
  const silent = [...page.matchAll(/^- `+ ?(\w+)[^\n]*?`(?: \(\w+\))?$/gm)].map(([, name]) => name);
  expect(silent).toEqual([]);
});

test("the methods of the client are listed", () => {
  const [, methods = ""] = /^- `KubeClient` .*\n((?: {2}- .*\n)+)/m.exec(page) ?? [];
  expect([...methods.matchAll(/^ {2}- `(\w+)/gm)].map(([, name]) => name)).toEqual(
    expect.arrayContaining([
      "get",
      "find",
      "list",
      "watch",
      "create",
      "patch",
      "apply",
      "delete",
      "podLogs",
      "request",
    ]),
  );
});
