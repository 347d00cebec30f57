import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { follow } from "./simulated-kubelet.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "simulated-kubelet-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a process's log becomes a container's: whole lines, each once, characters in one piece", () => {
  const [from, to] = [join(folder, "process.log"), join(folder, "container.log")];
  writeFileSync(to, "");
  const copy = follow(from, to);
  const lines = () => readFileSync(to, "utf8").split("\n").slice(0, -1);
  copy();
  expect(lines()).toEqual([]);
  const [head, tail] = [Buffer.from("caf\u00e9").subarray(0, 4), Buffer.from("caf\u00e9").subarray(4)];
  writeFileSync(from, Buffer.concat([Buffer.from("one\n"), head]));
  copy();
  expect(lines()).toEqual([expect.stringMatching(/^\d{4}-\S+Z stdout F one$/)]);
  appendFileSync(from, Buffer.concat([tail, Buffer.from("\n")]));
  copy();
  copy();
  expect(lines().map((line) => line.split(" F ")[1])).toEqual(["one", "caf\u00e9"]);
  // More than is read at a time.
  appendFileSync(from, `${"x".repeat(99)}\n`.repeat(2_000));
  copy();
  expect(lines()).toHaveLength(2_002);
});
