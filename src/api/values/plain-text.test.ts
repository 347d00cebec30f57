import { expect, test } from "vitest";
import { withVerdict } from "../condition-list.ts";
import { plainText } from "./plain-text.ts";

test.each([
  ["colours and cursor movements", "\u001b[31mfatal\u001b[0m \u001b[2J\u001b[1;1Hgood", "fatal good"],
  ["the title of a window", "a\u001b]0;owned\u0007b\u001b]8;;http://x\u001b\\c", "abc"],
  ["single controls", "a\u0000b\u0007c\u001bd\u007fe\u009ff", "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf"],
  ["bidirectional overrides", "a\u202eb\u2066c\u200f", "a\ufffdb\ufffdc\ufffd"],
  ["invisible characters", "a\u200bb\ufeffc\u{e0041}d", "a\ufffdb\ufffdc\ufffdd"],
  ["line breaks of all kinds", "a\r\nb\u2028c\u2029d\u0085e\tf", "a b c d e f"],
  ["half a character", "a\ud83d b\ude00", "a\ufffd b\ufffd"],
  ["what is plain stays", "\u00fcber \u{1f600} 'x' \"y\" {a: b}", "\u00fcber \u{1f600} 'x' \"y\" {a: b}"],
])("%s", (_, text, want) => {
  expect(plainText(text)).toBe(want);
  expect(plainText(want)).toBe(want);
});

test("a cut never splits a character", () => {
  for (let before = 0; before < 12; before++) {
    const cut = plainText(`${"x".repeat(before)}${"\u{1f600}".repeat(10)}`, 12);
    expect(cut.isWellFormed()).toBe(true);
    expect(cut.length).toBeLessThanOrEqual(12);
    expect(cut).toMatch(/\.\.\.$/);
  }
});

// A pattern that looks at every rest of the text again would take hours.
test.each(["\u001b]", "\u001b[", "\u001b[1;", "\u001b]0;", " \n", "\ud83d"])("a long string full of %j", (part) => {
  expect(plainText(part.repeat(200_000), 100)).toHaveLength(100);
});

test("no condition holds anything else, regardless of the author of its message", () => {
  const verdict = { type: "Ready", status: "False", reason: "X", message: "pod a:\n\u001b[2Jgood\u202e" } as const;
  const [ready] = withVerdict([], verdict, { nowMs: 0, observedGeneration: 1 });
  expect(ready?.message).toBe("pod a: good\ufffd");
  const long = withVerdict(
    [],
    { ...verdict, message: `${"x".repeat(32_764)}\u{1f600}yyy` },
    { nowMs: 0, observedGeneration: 1 },
  );
  expect(long[0]?.message.isWellFormed()).toBe(true);
});
