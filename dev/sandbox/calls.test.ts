import { expect, test } from "vitest";
import { parseCall, parseMessage, renderLine, stringOf } from "./calls.ts";

test("one side reads what the other writes", () => {
  const call = { id: 1, call: "gateway", input: { namespace: "a" } };
  expect(parseCall(renderLine(call))).toEqual(call);
  for (const message of [
    { type: "progress", line: "two\nlines" },
    { type: "response", id: 1, output: { socket: "/x" } },
    { type: "failure", id: 1, reason: "no" },
  ] as const) {
    expect(renderLine(message).split("\n")).toHaveLength(2);
    expect(parseMessage(renderLine(message))).toEqual(message);
  }
});

test("a call without output gets a response", () => {
  expect(parseMessage(renderLine({ type: "response", id: 3, output: undefined }))).toEqual({ type: "response", id: 3 });
});

test.each(['{"type":"response"}', '{"type":"failure","id":1}', "[]", "7", "warning: {"])(
  "%s is not a message",
  (line) => expect(parseMessage(line)).toBeUndefined(),
);

test("a call that cannot be read is an error", () => expect(() => parseCall("up!")).toThrow("not a call: up!"));

test("a field that is missing is named", () => {
  expect(stringOf({ socket: "/x" }, "socket")).toBe("/x");
  expect(() => stringOf({ socket: 7 }, "socket")).toThrow('socket is missing in {"socket":7}');
  expect(() => stringOf(undefined, "socket")).toThrow("socket is missing");
});
