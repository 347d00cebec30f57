import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ArchiveStore, openArchiveStore } from "./archive-store.ts";

let folder: string;
let store: ArchiveStore;
let made: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "archive-store-"));
  store = await openArchiveStore(folder);
  made = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const make = (name: string, key: string) =>
  store.make({
    name,
    key,
    progress: () => undefined,
    make: async () => {
      made.push(key);
      return { references: [`example/${name}:${key}`], archive: Buffer.from(key) };
    },
  });

test("an archive is found again, by this process and by the next", async () => {
  expect(await store.find("engine", "a1")).toBeUndefined();
  const archive = await make("engine", "a1");
  expect(archive.references).toEqual(["example/engine:a1"]);
  expect(readFileSync(archive.file, "utf8")).toBe("a1");
  expect(await store.find("engine", "a1")).toEqual(archive);
  expect(await (await openArchiveStore(folder)).find("engine", "a1")).toEqual(archive);
  expect(await store.find("metadata", "a1")).toBeUndefined();
});

test("concurrent requests build it once", async () => {
  const archives = await Promise.all([make("engine", "a1"), make("engine", "a1"), make("engine", "a1")]);
  expect(made).toEqual(["a1"]);
  expect(new Set(archives.map(({ file }) => file)).size).toBe(1);
});

test("a missing archive is built again, and an invalid index is an error", async () => {
  const { file } = await make("engine", "a1");
  rmSync(file);
  expect(await store.find("engine", "a1")).toBeUndefined();
  await make("engine", "a1");
  expect(made).toEqual(["a1", "a1"]);
  writeFileSync(join(folder, "engine-a1.json"), "{}");
  await expect(store.find("engine", "a1")).rejects.toThrow("engine-a1.json is not a list of image names: remove it");
});

test("two are kept, and every one that was used lately", async () => {
  const past = new Date(Date.now() - 86_400_000);
  for (const key of ["a1", "a2", "a3", "a4"]) {
    const { file } = await make("engine", key);
    if (key !== "a4") utimesSync(file, past, past);
  }
  await make("metadata", "a1");
  writeFileSync(join(folder, "engine-a9.tar.part"), "unfinished");
  await store.find("engine", "a1");
  await make("engine", "a5");
  const kept = readdirSync(folder).filter((name) => name.endsWith(".tar") || name.endsWith(".part"));
  // a4 and a5 are the two newest; a1 was just requested; the other name is counted separately.
  expect(kept.sort()).toEqual(["engine-a1.tar", "engine-a4.tar", "engine-a5.tar", "metadata-a1.tar"]);
});
