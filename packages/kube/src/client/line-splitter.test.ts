// Lines are the same however the bytes are chunked.
import fc from "fast-check";
import { expect, test } from "vitest";
import { ResponseTooLargeError } from "../core/errors.ts";
import { LineSplitter } from "./line-splitter.ts";

function split(bytes: Buffer, cuts: readonly number[]): string[] {
  const splitter = new LineSplitter(1 << 20);
  const lines: string[] = [];
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let start = 0;
  for (const end of [...places, bytes.length]) {
    lines.push(...splitter.push(bytes.subarray(start, end)).map(String));
    start = end;
  }
  const rest = splitter.end();
  return rest === undefined ? lines : [...lines, String(rest)];
}

test("any chunking gives the same lines, even inside a character", () => {
  const line = fc
    .string({ unit: fc.constantFrom("a", "é", "漢", "😀", "{", '"'), minLength: 1 })
    .filter((text) => text.trim() !== "");
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), fc.boolean(), (lines, cuts, closed) => {
      const text = lines.join("\n") + (closed ? "\n" : "");
      expect(split(Buffer.from(text), cuts)).toEqual(lines);
    }),
  );
});

test("blank lines are keep-alives, not events", () => {
  expect(split(Buffer.from("\n a \n\r\n\nb"), [])).toEqual([" a ", "b"]);
});

test("a long line in many chunks costs in proportion to its length", () => {
  const cpuMs = (chunks: number): number => {
    const splitter = new LineSplitter(1 << 30);
    const chunk = Buffer.alloc(1024, "x");
    let early = 0;
    const started = process.cpuUsage();
    for (let i = 0; i < chunks; i++) early += [...splitter.push(chunk)].length;
    const [line] = splitter.push(Buffer.from("\n"));
    const { user, system } = process.cpuUsage(started);
    expect(early).toBe(0);
    expect(line?.length).toBe(chunks * 1024);
    return (user + system) / 1000;
  };
  cpuMs(1000);
  // 16 times the bytes: quadratic work would be 256 times slower. Generous, because the machine is shared.
  expect(cpuMs(16_000)).toBeLessThan(Math.max(50, cpuMs(1000)) * 64);
});

test("a line past the limit is rejected before it is complete", () => {
  const splitter = new LineSplitter(10);
  expect([...splitter.push(Buffer.from("12345"))]).toEqual([]);
  expect(() => [...splitter.push(Buffer.from("678901"))]).toThrow(ResponseTooLargeError);
});
