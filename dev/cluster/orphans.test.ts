// The folder of a running owner is kept; that of an owner that has exited is removed.
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FOLDER_PREFIX, markAlive, parentFolder, removeOrphans } from "./orphans.ts";

let parent: string;
let lines: string[];
const make = (name: string): string => {
  const folder = join(parent, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "file"), "");
  return folder;
};
const sweep = () => removeOrphans(parent, (line) => lines.push(line));

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "leftovers-"));
  lines = [];
});
afterEach(() => rmSync(parent, { recursive: true }));

test("the folder of a running owner stays", async () => {
  const folder = make(`${FOLDER_PREFIX}living`);
  using _mark = await markAlive(folder);
  await sweep();
  expect(existsSync(folder)).toBe(true);
  expect(lines).toEqual([]);
});

test("the folder of an owner that was killed is removed and reported", async () => {
  const folder = make(`${FOLDER_PREFIX}dead`);
  // A server removes its socket when it closes. A renamed socket remains, as after a killed process.
  const server = createServer();
  await once(server.listen(join(folder, "x.sock")), "listening");
  renameSync(join(folder, "x.sock"), join(folder, "alive.sock"));
  server.close();
  await once(server, "close");
  await sweep();
  expect(existsSync(folder)).toBe(false);
  expect(lines).toEqual([`removed ${folder} of a cluster that was killed`]);
});

test("a folder that is being created and one with another name stay", async () => {
  const [young, other] = [make(`${FOLDER_PREFIX}young`), make("something-else")];
  await sweep();
  expect([young, other].map((folder) => existsSync(folder))).toEqual([true, true]);
});

test("a linked folder is resolved to its real path, and one with a space is rejected", () => {
  const link = join(parent, "link");
  symlinkSync(make("real"), link);
  expect(parentFolder(link)).toBe(join(parent, "real"));
  expect(() => parentFolder(make("my files"))).toThrow("set TMPDIR to a folder without spaces");
});
