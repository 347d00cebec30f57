// Shell scripts stand for several versions of Go.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findGo } from "./go-build.ts";

const folder = mkdtempSync(join(tmpdir(), "go-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fakeGo(version: string): string {
  const path = join(folder, version);
  writeFileSync(path, `#!/bin/sh\n[ "$1 $2 $GOTOOLCHAIN" = "env GOVERSION local" ] && echo ${version}\n`, {
    mode: 0o755,
  });
  return path;
}

test("a Go that is new enough is taken wherever it is", async () => {
  const go = fakeGo("go1.26.8");
  expect(await findGo(["/nowhere/go", go])).toBe(go);
  expect(await findGo([fakeGo("go1.30rc1")])).toContain("go1.30rc1");
});

test("an older Go and none at all are told apart", async () => {
  await expect(findGo([fakeGo("go1.24.1")])).rejects.toThrow("Go 1.26 or newer is needed, this machine has go1.24.1");
  await expect(findGo(["/nowhere/go"])).rejects.toThrow("Go 1.26 or newer is needed, this machine has none");
});
