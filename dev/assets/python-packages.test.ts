import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolvePythonPackages } from "./python-packages.ts";

test("a machine without Python gets an error that says what to install", async () => {
  await expect(resolvePythonPackages("firebolt-sdk", { python: "no-such-python" })).rejects.toThrow(
    /^The Python packages of firebolt-sdk could not be provided: no-such-python does not run\.[\s\S]*What to do: install Python 3\.11 or newer with pip/,
  );
});

test("every package is pinned by version and checksum, and no index is named", () => {
  const text = readFileSync(join(import.meta.dirname, "python/firebolt-sdk/requirements.txt"), "utf8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const wrong = lines.filter((line) => !/^([a-z0-9-]+==[0-9a-z.]+| {4}--hash=sha256:[0-9a-f]{64})( \\)?$/.test(line));
  expect(wrong).toEqual([]);
  expect(lines.some((line) => line.startsWith("firebolt-sdk=="))).toBe(true);
});
