// Long lines on a narrow terminal.
import { expect, test } from "vitest";
import { wrapBehind, wrapLines } from "./wrap.ts";

test("without a width a string stays on one line", () => {
  expect(wrapLines("a b c", undefined)).toEqual(["a b c"]);
});

test("lines break between words and fit", () => {
  expect(wrapLines("one two three four", 9)).toEqual(["one two", "three", "four"]);
});

test("a command is never broken", () => {
  const command = "kubectl logs e-g1-0 -n analytics -c engine --previous";
  expect(wrapLines(`see why it exits: ${command}; or delete it`, 40)).toEqual([
    "see why it exits:",
    `${command};`,
    "or delete it",
  ]);
});

test("lines behind a prefix are indented under the first", () => {
  expect(wrapBehind("aaaa bbbb cccc dddd eeee ffff", { first: "waits: ", rest: "       ", width: 30 })).toEqual([
    "waits: aaaa bbbb cccc dddd",
    "       eeee ffff",
  ]);
});

test("in a narrow terminal the string starts below, with a small indent", () => {
  const first = "22s   Warning   FailedScheduling   ";
  expect(wrapBehind("0/2 nodes are available", { first, rest: " ".repeat(first.length), width: 45 })).toEqual([
    "22s   Warning   FailedScheduling",
    "      0/2 nodes are available",
  ]);
  const tree = { first: "\u2502  e-g0-0   Running   ", rest: "\u2502                      ", width: 30 };
  expect(wrapBehind("on node-0, 4 queries", tree)).toEqual([
    "\u2502  e-g0-0   Running",
    "\u2502      on node-0, 4 queries",
  ]);
});

test("an empty cell takes no line in a narrow terminal", () => {
  const tree = { first: "\u2514\u2500 g0              active    1/1     4s    ", rest: "   \u2502", width: 40 };
  expect(wrapBehind("", tree)).toEqual([tree.first]);
});
