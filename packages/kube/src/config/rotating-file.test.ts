// A file that others replace: checked every ten seconds, read if changed; the last content is kept on errors.
import { expect, test } from "vitest";
import { CredentialsError } from "../core/errors.ts";
import { silentLogger } from "../core/logger.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { RotatingFile } from "./rotating-file.ts";

function setUp() {
  const clock = new ManualClock();
  const disk = { content: "one\n", fingerprint: "1", reads: 0, error: undefined as Error | undefined };
  const files = {
    fingerprint: () => disk.fingerprint,
    read() {
      if (disk.error !== undefined) throw disk.error;
      disk.reads += 1;
      return disk.content;
    },
  };
  return { clock, disk, file: new RotatingFile({ path: "/token", clock, logger: silentLogger, files }) };
}

test("a replaced file is detected within ten seconds, an unchanged one is not read again", async () => {
  const { clock, disk, file } = setUp();
  expect(file.current()).toBe("one");
  disk.content = "two";
  disk.fingerprint = "2";
  expect(file.current()).toBe("one");
  await clock.advance(10_000);
  expect(file.current()).toBe("two");
  await clock.advance(60_000);
  expect(file.current()).toBe("two");
  expect(disk.reads).toBe(2);
});

test("after a 401 the file is read at once, even if it seems unchanged", () => {
  const { disk, file } = setUp();
  file.current();
  disk.content = "two";
  expect(file.reread()).toBe("two");
});

test("a file that is temporarily missing or empty keeps its last content", async () => {
  const { clock, disk, file } = setUp();
  file.current();
  disk.fingerprint = "2";
  disk.content = "";
  await clock.advance(10_000);
  expect(file.current()).toBe("one");
  disk.error = new Error("ENOENT");
  expect(file.reread()).toBe("one");
  disk.error = undefined;
  disk.content = "three";
  await clock.advance(10_000);
  expect(file.current()).toBe("three");
});

test("a file that was never readable is an error that names it", () => {
  const { disk, file } = setUp();
  disk.error = new Error("EACCES: permission denied");
  expect(() => file.current()).toThrow(new CredentialsError("/token cannot be read: EACCES: permission denied"));
});
