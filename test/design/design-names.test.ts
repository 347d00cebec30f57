// Rules have names, and the names are defined in docs/design: once, tested, and cited as they are written there. Nothing cites what is not in
// the repository.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { MOVES } from "../../src/engine/model/phase.ts";
import { anchorsOf } from "../docs/support/links.ts";
import { allPages, ROOT } from "../docs/support/pages.ts";
import { cites, commentsCite, headingsIn, linksCite, outsideNumbers, titlesCite } from "./citations.ts";
import {
  allRules,
  codeIn,
  DESIGN_PAGES,
  pageText,
  pathsIn,
  type Rule,
  type RuleKind,
  rulesOf,
  testsOf,
} from "./design-pages.ts";
import { INVARIANTS } from "./invariant-names.ts";
import { STEPS } from "./step-names.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const rules = allRules();
const defined: ReadonlySet<string> = new Set(rules.map(({ name }) => name));
const isDefined = (name: string): boolean => defined.has(name);
const namesOf = (kind: RuleKind): readonly string[] =>
  rules.filter((rule) => rule.kind === kind).map(({ name }) => name);

const FOLDERS = ["{src,test,dev,bench,scripts}", "packages/*/{src,test,docs,examples}"];
const sources = globSync(
  FOLDERS.map((folder) => `${folder}/**/*.{ts,mjs,lua,sh}`),
  { cwd: ROOT },
).sort();
const pages = allPages();
/** The titles of tests, and what is put together to titles and messages elsewhere. */
const titled = sources.filter((file) => /\.test\.ts$|^test\/model\/|^test\/mutants\/|-invariants\.ts$/.test(file));
/** Made for this test: they show what a wrong citation looks like. */
const OWN = "test/design/";

const at = (file: string, cited: readonly { readonly name: string; readonly line: number }[]): readonly string[] =>
  cited.map(({ name, line }) => `${file}:${line}: ${name}`);

describe("definitions", () => {
  test("there are rules of every kind", () => {
    for (const kind of ["step", "invariant", "scenario", "decision", "boundary"] as const)
      expect(namesOf(kind).length, kind).toBeGreaterThan(20);
  });

  test("a name is kebab-case and defined once, on all pages together", () => {
    const names = rules.map(({ name }) => name);
    expect(names.filter((name) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))).toEqual([]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("every rule has a description", () => {
    const mute = rules.filter(({ cells }) => Object.values(cells).filter((cell) => cell !== "").length < 3);
    expect(mute.map(({ name }) => name)).toEqual([]);
  });

  test("a table with names has a column of names alone", () => {
    const lines = DESIGN_PAGES.flatMap((page) => pageText(page).split("\n"));
    const rows = lines.filter((line) => /^\| `[a-z0-9]+(?:-[a-z0-9]+)+` \|/.test(line));
    const known = rows.filter((line) => isDefined(codeIn(line)[0] ?? ""));
    expect(rows.filter((line) => !known.includes(line))).toEqual([]);
  });

  test.each(rules.map((rule) => [rule.name, rule] as const))("%s: its files exist", (_, { cells }) => {
    const paths = Object.values(cells).flatMap(pathsIn);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe("tests", () => {
  // The model interrupts passes after every write: that covers the crash boundaries together, not one by one.
  const tested = rules.filter(({ kind }) => kind !== "boundary");

  test.each(tested.map((rule) => [rule.name, rule] as const))("%s: has tests, and they cite it", (name, rule: Rule) => {
    // The runtime package knows nothing of this design.
    const files = testsOf(rule).filter((file) => !file.startsWith("packages/"));
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !cites(read(file), name))).toEqual([]);
  });
});

describe("steps", () => {
  test("are those that decisions carry, and the few outside of them", () => {
    expect([...namesOf("step")].sort()).toEqual(Object.keys(STEPS).sort());
  });

  test("move between phases as the guard of every write allows, and make use of every move", () => {
    const moves = new Set<string>();
    const phasesIn = (cell = ""): readonly string[] => (/^[a-z]+$/.test(cell) ? [cell] : codeIn(cell));
    for (const { kind, cells } of rules)
      if (kind === "step")
        for (const from of phasesIn(cells["From"]))
          for (const to of codeIn(cells["To"] ?? "")) if (from !== to) moves.add(`${from} → ${to}`);
    const allowed = Object.entries(MOVES).flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`));
    expect([...moves].sort()).toEqual(allowed.sort());
  });
});

test("invariants are those that the model, mutants and observers may name", () => {
  expect([...namesOf("invariant")].sort()).toEqual([...INVARIANTS].sort());
});

describe("citations", () => {
  test("in titles of tests are defined", () => {
    const wrong = titled.flatMap((file) => {
      const unknown = titlesCite(read(file), isDefined).filter(({ name }) => !isDefined(name));
      return file.startsWith(OWN) ? [] : at(file, unknown);
    });
    expect(wrong).toEqual([]);
  });

  test("in comments are defined", () => {
    const wrong = sources.flatMap((file) =>
      file.startsWith(OWN)
        ? []
        : at(
            file,
            commentsCite(read(file)).filter(({ name }) => !isDefined(name)),
          ),
    );
    expect(wrong).toEqual([]);
  });

  test("in pages are defined, on the page that the link leads to", () => {
    const wrong = pages.flatMap((page) => {
      const unknown = linksCite(read(page)).filter(({ name, target }) => {
        const file = target.startsWith("#") ? page : normalize(join(page, "..", target.replace(/#.*/, "")));
        return file.startsWith("docs/design/") && !rules.some((rule) => rule.name === name && rule.page === file);
      });
      return at(page, unknown);
    });
    expect(wrong).toEqual([]);
  });

  test("of headings in sources lead to a page and a heading", () => {
    const wrong = sources.flatMap((file) =>
      headingsIn(read(file)).filter((target) => {
        const [page = "", heading] = target.split("#");
        // Without a heading, and not of the design, it may be an example.
        if (heading === undefined && !page.startsWith("docs/design/")) return false;
        return !existsSync(join(ROOT, page)) || (heading !== undefined && !anchorsOf(read(page)).has(heading));
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("lead to nothing outside of the repository", () => {
    const texts = [...sources, ...pages, ...globSync(["charts/**/*.{yaml,tpl,txt}"], { cwd: ROOT })];
    const wrong = texts.flatMap((file) => (file.startsWith(OWN) ? [] : at(file, outsideNumbers(read(file)))));
    expect(wrong).toEqual([]);
  });
});

describe("what is recognised", () => {
  const known = (name: string): boolean => name === "bump" || name === "image-changed";
  const cited = (line: string): readonly string[] => titlesCite(line, known).map(({ name }) => name);

  test.each([
    ['test("image-changed: it rolls", () => {', ["image-changed"]],
    ['test("image-chnaged: it rolls", () => {', ["image-chnaged"]],
    ['  ["bump, image-changed: it rolls", 1],', ["bump", "image-changed"]],
    ['] as const)("%s, image-changed: it rolls", () => {', ["image-changed"]],
    ['expect(value, "image-changed: the value").toBe(1);', ["image-changed"]],
    ['test("graceful: it rolls", () => {', []],
    ['test("it rolls: image-changed", () => {', []],
    ['const header = { "content-type": "a" };', []],
  ])("%s", (line, names) => {
    expect(cited(line)).toEqual(names);
  });

  test.each([
    ['test("bump, image-changed: it rolls", () => {', true],
    ['  ["image-changed", "draining"],', true],
    ['  "image-changed": on("scale"),', true],
    ['expect(decision).toMatchObject({ step: "image-changed" });', true],
    ['throw new Violation("image-changed", "why");', true],
    ['const harness = await openHarness("image-changed");', false],
    ['await change({ name: "image-changed" });', false],
    ['const text = "image-changed: it rolls";', false],
  ])("cited: %s", (line, want) => {
    expect(cites(line, "image-changed")).toBe(want);
  });

  test("names in comments and links", () => {
    expect(commentsCite("// Why (design: bump, drain-settle).").map(({ name }) => name)).toEqual([
      "bump",
      "drain-settle",
    ]);
    expect(linksCite("[`bump`](design/engine.md#steps), [bump](x.md)").map(({ name }) => name)).toEqual(["bump"]);
    expect(headingsIn("(docs/design/engine.md#steps)")).toEqual(["docs/design/engine.md#steps"]);
  });

  const number = (letter: string, digits: number): string => `${letter}${digits}`;
  const section = String.fromCharCode(0xa7);

  test.each([
    `row ${number("T", 17)} waits`,
    `// (${number("I", 20)})`,
    `"${number("S", 4)}: a roll"`,
    `${section}1.4`,
    ["rul", "ing 15"].join(""),
    ["behav", "iour.md"].join(""),
    ["against the specif", "ication"].join(""),
  ])("outside: %s", (line) => {
    expect(outsideNumbers(line)).toHaveLength(1);
  });

  test.each(["an S3-compatible store", "RFC 9110 \u00a712.4.2", "e-g17", "https://x/services/T0/B0/x", "Node 24, V8"])(
    "inside: %s",
    (line) => {
      expect(outsideNumbers(line)).toEqual([]);
    },
  );

  test("a table without its kind defines nothing", () => {
    expect(rulesOf("p", "| Rank | When |\n| --- | --- |\n| `a-b` | x |\n")).toEqual([]);
    expect(rulesOf("p", "| Step | When |\n| --- | --- |\n| `a-b` | x |\n").map(({ name }) => name)).toEqual(["a-b"]);
  });
});
