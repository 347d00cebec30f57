// The parser of the commands in docs/, on pages made for it. The real pages are in pages.test.ts.
import { describe, expect, test } from "vitest";
import { parseDocPage, printsAsShown } from "./support/commands.ts";

const page = (...lines: readonly string[]) => parseDocPage(lines.join("\n"));

describe("reading a page", () => {
  test("commands with what they print, in order", () => {
    const { steps, problems } = page(
      "# Title",
      "```console",
      "$ kubectl get pods",
      "NAME   READY",
      "",
      "$ cat <<EOF |",
      "> a",
      "> EOF",
      "> wc -l",
      "",
      "```",
    );
    const rest = { type: "command", fails: false, until: false };
    expect(steps).toEqual([
      { ...rest, line: 3, script: "kubectl get pods", output: ["NAME   READY"] },
      { ...rest, line: 6, script: "cat <<EOF |\na\nEOF\nwc -l", output: [] },
    ]);
    expect(problems).toEqual([]);
  });

  test("a line that begins like a continuation is output once there is output", () => {
    expect(page("```console", "$ diff a b", "1c1", "> new", "```").steps).toMatchObject([
      { script: "diff a b", output: ["1c1", "> new"] },
    ]);
  });

  test("only the last command of a block fails; all of it is repeated", () => {
    expect(page("```console fails", "$ true", "$ false", "```").steps).toMatchObject([
      { fails: false },
      { fails: true },
    ]);
    expect(page("```console until", "$ true", "ok", "```").steps).toMatchObject([{ until: true }]);
  });

  test("files, also in an indented block", () => {
    expect(page("- item", "  ```yaml", "  # file: a.yaml", "  kind: A", "    b: 1", "  ```").steps).toEqual([
      { type: "file", line: 2, name: "a.yaml", content: "kind: A\n  b: 1\n" },
    ]);
  });

  test("hidden set-up", () => {
    expect(page("text", "<!-- test: sleep 1 -->").steps).toEqual([{ type: "hidden", line: 2, script: "sleep 1" }]);
  });

  test("blocks without commands are ignored", () => {
    expect(page("```yaml", "a: 1", "```", "```", "$ not this", "```", "```ts", "let a", "```")).toEqual({
      steps: [],
      notTested: [],
      problems: [],
    });
  });

  test("no-test with a reason", () => {
    expect(page("<!-- no-test: needs a cloud -->", "```console no-test", "$ aws", "```")).toEqual({
      steps: [],
      notTested: [{ line: 2, reason: "needs a cloud" }],
      problems: [],
    });
  });

  test.each([
    ["no-test without a reason", ["```sh no-test", "aws", "```"], "no-test without"],
    [
      "a reason that belongs to another block",
      ["<!-- no-test: x -->", "text", "```sh no-test", "aws", "```"],
      "no-test without",
    ],
    ["a shell block", ["```sh", "kubectl get pods", "```"], "a sh block is not run"],
    [
      "a console block without a command",
      ["```console", "kubectl get pods", "```"],
      "without a line that begins with $",
    ],
    ["an unknown word", ["```console notest", "$ true", "```"], 'unknown word "notest"'],
  ])("%s is a problem", (_, lines, problem) => {
    expect(page(...lines).problems).toEqual([{ line: expect.any(Number), problem: expect.stringContaining(problem) }]);
  });
});

describe("comparing", () => {
  test.each<readonly [string, readonly string[], string]>([
    ["the same", ["a b"], "a b\n"],
    ["other widths", ["NAME   READY", "x      true"], "NAME        READY  \nx           true\n"],
    ["part of a line", ["pod-… Running 0 …s"], "pod-abc   Running   0   12s\n"],
    ["any lines", ["first", "…", "last"], "first\n2\n3\nlast\n"],
    ["no lines at all", ["first", "…", "last"], "first\nlast\n"],
    ["signs that mean something in patterns", ["a.b (c) [d] $1 *"], "a.b (c) [d] $1 *\n"],
    ["blank ends", ["a"], "\n\na\n\n"],
  ])("%s", (_, shown, printed) => {
    expect(printsAsShown(shown, printed)).toBe(true);
  });

  test.each<readonly [string, readonly string[], string]>([
    ["another text", ["a"], "b\n"],
    ["a line more", ["a"], "a\nb\n"],
    ["a line less", ["a", "b"], "a\n"],
    ["a dot is a dot", ["a.b"], "axb\n"],
    ["a gap does not reach over lines", ["a…d"], "a\nd\n"],
    ["nothing", ["a"], ""],
  ])("not %s", (_, shown, printed) => {
    expect(printsAsShown(shown, printed)).toBe(false);
  });
});
