// Archives are read back by the system's tar: it finds the same entries, and equal entries give equal bytes.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type TarEntry, writeTar } from "./tar.ts";

const folder = mkdtempSync(join(tmpdir(), "tar-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TIME = 1_700_000_000;
const LONG = `usr/${"long-".repeat(18)}name/${"x".repeat(90)}`;
const entries: readonly TarEntry[] = [
  { type: "file", path: "usr/bin/tool", content: Buffer.from("#!/bin/sh\n"), mode: 0o755 },
  { type: "link", path: "bin", target: "usr/bin" },
  { type: "folder", path: "tmp", mode: 0o1777 },
  { type: "file", path: "etc/empty", content: Buffer.alloc(0) },
  { type: "file", path: "etc/block", content: Buffer.alloc(512, "b") },
  { type: "file", path: LONG, content: Buffer.from("found") },
];

test("the system's tar unpacks the entries", () => {
  execFileSync("tar", ["-xf", "-", "-C", folder], { input: writeTar(entries, TIME) });
  expect(readFileSync(join(folder, "usr/bin/tool"), "utf8")).toBe("#!/bin/sh\n");
  expect(statSync(join(folder, "usr/bin/tool")).mode & 0o777).toBe(0o755);
  expect(statSync(join(folder, "usr/bin/tool")).mtimeMs).toBe(TIME * 1000);
  expect(readlinkSync(join(folder, "bin"))).toBe("usr/bin");
  expect(statSync(join(folder, "etc/empty")).size).toBe(0);
  expect(readFileSync(join(folder, "etc/block"), "utf8")).toBe("b".repeat(512));
  expect(readFileSync(join(folder, LONG), "utf8")).toBe("found");
});

test("everything belongs to root and has one time, parents included", () => {
  const listing = execFileSync("tar", ["--numeric-owner", "--utc", "-tvf", "-"], {
    input: writeTar(entries, TIME),
    encoding: "utf8",
  });
  const lines = listing.trimEnd().split("\n");
  expect(lines.filter((line) => !/ 0\/0 .* 2023-11-14 22:13 /.test(line))).toEqual([]);
  expect(lines.some((line) => /^drwxrwxrwt .* tmp\/$/.test(line))).toBe(true);
  expect(lines.some((line) => /^drwxr-xr-x .* usr\/bin\/$/.test(line))).toBe(true);
});

test("the order in which entries are given does not matter", () => {
  expect(writeTar(entries.toReversed(), TIME).equals(writeTar(entries, TIME))).toBe(true);
});

test("entries that tar cannot represent are rejected", () => {
  const file = { type: "file", content: Buffer.alloc(0) } as const;
  expect(() => writeTar([{ ...file, path: "x".repeat(101) }], TIME)).toThrow("too long for tar");
  expect(() =>
    writeTar(
      [
        { ...file, path: "a" },
        { ...file, path: "a" },
      ],
      TIME,
    ),
  ).toThrow("a is in the archive twice");
});
