// Strings of the cluster on a terminal: shown, never obeyed.
import { expect, test } from "vitest";
import { explainEngine } from "../status/explain.ts";
import { waitLines } from "../status/render-tree.ts";
import { dataText } from "./output.ts";
import { printable } from "./printable.ts";
import { COLOURED, visibleLength } from "./style.ts";
import { renderTable } from "./table.ts";
import { createTerminal } from "./terminal.ts";
import { wrapBehind } from "./wrap.ts";

const EVIL = "fatal \u001b]0;owned\u0007\u001b[2J\u001b[32mgood\u009b2J\u202e\r\u0000";
const SHOWN = String.raw`fatal ^[]0;owned^G^[[2J^[[32mgood\u009b2J\u202e^M^@`;

function captured() {
  let [out, err] = ["", ""];
  const stream = (add: (text: string) => void) => ({ isTTY: true, write: (text: string) => add(text) });
  const stdout = stream((text) => {
    out += text;
  });
  const stderr = stream((text) => {
    err += text;
  });
  return { terminal: createTerminal(stdout, stderr, {}), read: () => ({ out, err }) };
}

test("every output makes escape sequences visible and keeps the plugin's own colours", () => {
  const { terminal, read } = captured();
  terminal.out(`${terminal.style.red(EVIL)}\n`);
  terminal.line(EVIL);
  terminal.err(EVIL);
  terminal.warn(EVIL);
  expect(read()).toEqual({
    out: `\u001b[31m${SHOWN}\u001b[39m\n${SHOWN}\n`,
    err: `${SHOWN}\u001b[33mwarning:\u001b[39m ${SHOWN}\n`,
  });
});

test("data, logs and results pass unchanged", () => {
  const { terminal, read } = captured();
  terminal.raw(`${terminal.style.dim("pod")} ${EVIL}`);
  expect(read().out).toBe(`\u001b[2mpod\u001b[22m ${EVIL}`);
});

test("JSON and YAML escape control characters without changing values", async () => {
  const json = await dataText({ message: EVIL }, "json");
  expect(json).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
  expect(JSON.parse(json)).toEqual({ message: EVIL });
  const yaml = await dataText({ message: EVIL, list: ["\u007f", "a\n\u009bb"] }, "yaml");
  expect(yaml).not.toMatch(/[^\P{Cc}\n]/u);
  const { parse } = await import("yaml");
  expect(parse(yaml)).toEqual({ message: EVIL, list: ["\u007f", "a\n\u009bb"] });
});

test("strings, colours and letters beyond ASCII are kept", () => {
  const text = "\u2502 \u00fcber\t\u{1f600}\nnext\r\n";
  expect(printable(text)).toBe("\u2502 \u00fcber\t\u{1f600}\nnext\n");
  expect(visibleLength(COLOURED.green("four"))).toBe(4);
});

test("a line feed in a message starts no new line", () => {
  const faked = "waits\n\u2713 all good\u2028really";
  expect(renderTable({ header: ["A", "B"], rows: [["x\ny", faked]] }).split("\n")).toHaveLength(3);
  expect(wrapBehind(faked, { first: "a: ", rest: "   ", width: undefined })).toEqual([
    "a: waits \u2713 all good really",
  ]);
  const conditions = [
    {
      type: "Ready",
      status: "False" as const,
      reason: "PodsNotReady",
      message: faked,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ];
  const engine = {
    metadata: { name: "e", namespace: "ns", generation: 1 },
    spec: { instanceRef: "main", replicas: 1, storage: { emptyDir: {} } },
    status: { phase: "stable", activeGeneration: 0, currentGeneration: 0, observedGeneration: 1, conditions },
  };
  const lines = waitLines(explainEngine({ engine, generations: [], pods: [], instance: "found", nowMs: 0 }), {
    style: COLOURED,
    width: 400,
  });
  expect(lines.join("|")).toContain("waits \u2713 all good really");
});
