import { expect, test } from "vitest";
import { parseCall, parseMessage, renderLine, textOf } from "./calls.ts";

test("what one end writes the other reads", () => {
  const call = { id: 1, call: "gateway", input: { namespace: "a" } };
  expect(parseCall(renderLine(call))).toEqual(call);
  for (const message of [
    { type: "progress", line: "two\nlines" },
    { type: "answer", id: 1, output: { socket: "/x" } },
    { type: "failure", id: 1, why: "no" },
  ] as const) {
    expect(renderLine(message).split("\n")).toHaveLength(2);
    expect(parseMessage(renderLine(message))).toEqual(message);
  }
});

test("a call that has nothing to answer is answered", () => {
  expect(parseMessage(renderLine({ type: "answer", id: 3, output: undefined }))).toEqual({ type: "answer", id: 3 });
});

test.each(['{"type":"answer"}', '{"type":"failure","id":1}', "[]", "7", "warning: {"])("%s is no message", (line) =>
  expect(parseMessage(line)).toBeUndefined(),
);

test("a call that cannot be read is an error", () => expect(() => parseCall("up!")).toThrow("not a call: up!"));

test("a field that is missing is named", () => {
  expect(textOf({ socket: "/x" }, "socket")).toBe("/x");
  expect(() => textOf({ socket: 7 }, "socket")).toThrow('socket is missing in {"socket":7}');
  expect(() => textOf(undefined, "socket")).toThrow("socket is missing");
});
