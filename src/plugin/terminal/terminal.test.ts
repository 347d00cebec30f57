import { describe, expect, test } from "vitest";
import { ageText, spanText } from "./age.ts";
import { createLiveScreen } from "./live-screen.ts";
import { printable } from "./printable.ts";
import { renderBar } from "./progress-bar.ts";
import { COLOURED, cutVisible, PLAIN, visibleLength } from "./style.ts";
import { renderTable } from "./table.ts";
import { createTerminal } from "./terminal.ts";

describe("colours", () => {
  const tty = { isTTY: true, write: () => true };
  const pipe = { write: () => true };
  test.each([
    { stream: tty, env: {}, coloured: true },
    { stream: pipe, env: {}, coloured: false },
    { stream: tty, env: { NO_COLOR: "1" }, coloured: false },
    { stream: tty, env: { NO_COLOR: "" }, coloured: true },
    { stream: tty, env: { TERM: "dumb" }, coloured: false },
  ])("$env $stream.isTTY", ({ stream, env, coloured }) => {
    expect(createTerminal(stream, pipe, env).style === COLOURED).toBe(coloured);
    expect(createTerminal(pipe, stream, env).errorStyle === COLOURED).toBe(coloured);
  });
});

test("tables: three spaces between columns, - for empty cells, colours take no columns", () => {
  const rows = [
    ["a", COLOURED.green("ok"), ""],
    ["longer", "x", "end"],
  ];
  expect(
    printable(renderTable({ header: ["NAME", "B", "LAST"], rows }))
      .replaceAll("\u001b[32m", "")
      .replaceAll("\u001b[39m", ""),
  ).toBe("NAME     B    LAST\na        ok   -\nlonger   x    end\n");
});

test.each([
  [0, "0s"],
  [999, "0s"],
  [59_000, "59s"],
  [60_000, "1m"],
  [312_000, "5m12s"],
  [3_600_000 * 9 + 60_000, "9h1m"],
  [3_600_000 * 11 + 60_000, "11h"],
  [86_400_000 * 3, "3d"],
])("%d ms are %s", (ms, text) => expect(spanText(ms)).toBe(text));

test("ages: an invalid time has none, a future time is 0s", () => {
  expect(ageText("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:00:05Z"))).toBe("5s");
  expect(ageText("2026-01-01T00:00:09Z", Date.parse("2026-01-01T00:00:05Z"))).toBe("0s");
  expect(ageText("soon", 0)).toBe("");
  expect(ageText(undefined, 0)).toBe("");
});

test("a line is cut by its visible columns, and its colours are reset", () => {
  expect(cutVisible("abcdef", 4)).toBe("abc…");
  expect(cutVisible("abc", 4)).toBe("abc");
  const cut = cutVisible(`${COLOURED.red("abcdef")}gh`, 4);
  expect(visibleLength(cut)).toBe(4);
  expect(printable(cut)).toBe("\u001b[31mabc…\u001b[39m");
});

test("bars", () => {
  expect(renderBar(0, { style: PLAIN, state: "moving", width: 4 })).toBe("░░░░   0%");
  expect(renderBar(0.5, { style: PLAIN, state: "moving", width: 4 })).toBe("██░░  50%");
  expect(renderBar(7, { style: PLAIN, state: "done", width: 4 })).toBe("████ 100%");
});

describe("a live screen", () => {
  const drawn = (interactive: boolean) => {
    let text = "";
    const out = (more: string): void => {
      text += printable(more);
    };
    return { screen: createLiveScreen({ interactive, rows: 5, columns: 10, out }), text: () => text };
  };

  test("redraws in place", () => {
    const { screen, text } = drawn(true);
    screen.show("a\nb\n");
    screen.show("c\n");
    screen[Symbol.dispose]();
    expect(text()).toBe("\u001b[?25l\u001b[G\u001b[Ja\nb\n\u001b[2A\u001b[G\u001b[Jc\n\u001b[?25h");
  });

  test("never draws more lines than fit, so that no line remains above", () => {
    const { screen, text } = drawn(true);
    screen.show("1\n2\n3\n4\n5\n6\n7\n8\n");
    expect(text()).toContain("3\n… 5 more lines\n");
    expect(text()).not.toContain("4\n");
  });

  test("without a terminal only changes are printed", () => {
    const { screen, text } = drawn(false);
    screen.show("a 1s\n", "a");
    screen.show("a 2s\n", "a");
    screen.show("b 3s\n", "b");
    screen.show("c\nd\n");
    expect(text(), "lines follow each other, blocks are set apart").toBe("a 1s\nb 3s\n\nc\nd\n");
  });
});
