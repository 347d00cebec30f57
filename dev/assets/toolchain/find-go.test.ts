// Shell scripts replace several versions of Go.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openCache } from "../cache.ts";
import { GO_PIN } from "../pins.ts";
import { findGo, type GoSource, provideGo } from "./find-go.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "go-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const PINNED = `go${GO_PIN.version.slice(1)}`;

function fakeGo(version: string, path = join(folder, version)): string {
  writeFileSync(path, `#!/bin/sh\n[ "$1 $2 $GOTOOLCHAIN" = "env GOVERSION local" ] && echo ${version}\n`, {
    mode: 0o755,
  });
  return path;
}

/** A download that holds a Go of this version. */
const brings = (version: string): GoSource => ({
  title: `source of ${version}`,
  async fetch({ scratch }) {
    mkdirSync(join(scratch, "go/bin"), { recursive: true });
    fakeGo(version, join(scratch, "go/bin/go"));
  },
});

const broken: GoSource = { title: "broken", fetch: () => Promise.reject(new Error("wrong checksum")) };

async function options(places: readonly string[], ...sources: readonly GoSource[]) {
  const cache = await openCache(join(folder, "cache"));
  const lines: string[] = [];
  const progress = (line: string) => lines.push(line);
  return { cache, scratch: await cache.openScratch(), progress, places, sources, lines };
}

test("a Go that is new enough is taken wherever it is, also behind an older one", async () => {
  const go = fakeGo("go1.26.8");
  expect(await findGo(["/nowhere/go", go])).toEqual({ type: "found", go });
  expect(await findGo([fakeGo("go1.30rc1")])).toMatchObject({ type: "found" });
  expect(await findGo([fakeGo("go1.19.8"), go])).toEqual({ type: "found", go });
});

test("an older Go and a missing Go are distinguished", async () => {
  const older = await findGo([fakeGo("go1.24.1")]);
  expect(older).toEqual({ type: "missing", why: "Go 1.26 or newer is required, but this machine has go1.24.1" });
  expect(await findGo(["/nowhere/go"])).toMatchObject({ why: "Go 1.26 or newer is required, but Go is not installed" });
});

test("without a Go that is new enough the pinned one is fetched once and kept", async () => {
  const first = await options([fakeGo("go1.24.1")], brings(PINNED));
  const go = await provideGo(first);
  expect(go.program).toBe(join(first.cache.folderOf("go", GO_PIN.version), "bin/go"));
  expect(go.env).toHaveProperty("GOROOT", undefined);
  expect(first.lines[0]).toContain("this machine has go1.24.1: fetching Go v1.26.6, for this project alone");
  expect(await provideGo(await options(["/nowhere/go"], broken))).toEqual(go);
});

test("a source that fails and one that holds another version are passed over", async () => {
  const wanted = await options(["/nowhere/go"], broken, brings("go1.25.0"), brings(PINNED));
  await provideGo(wanted);
  expect(wanted.lines.slice(1)).toEqual([
    "broken does not work here: wrong checksum",
    "source of go1.25.0 does not work here: it holds go1.25.0",
  ]);
});

test("when no source works the error names each with its reason, and nothing is kept", async () => {
  const wanted = await options(["/nowhere/go"], broken, brings("go1.25.0"));
  await expect(provideGo(wanted)).rejects.toThrow(
    "Go 1.26 or newer is required, but Go is not installed, and the set-up could not bring its own:\n" +
      "broken: wrong checksum\nsource of go1.25.0: it holds go1.25.0",
  );
});
