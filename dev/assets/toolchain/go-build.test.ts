// A real module with one program, built by a shell script that stands for Go and records how it was called.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createBuildProgress } from "./build-progress.ts";
import { GO_ENVIRONMENT } from "./find-go.ts";
import { buildWithGo, compilerMemory } from "./go-build.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "go-build-test-"));
  for (const size of [1, 3]) writeFileSync(join(folder, `${size}.go`), "x".repeat(size * 1_000_000));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Lists two packages; building ends as told. */
function fakeGo(ending: string): string {
  const path = join(folder, "go");
  const script = `#!/bin/sh
echo "$@" >> ${folder}/calls
env | grep -E '^(GO|CGO)' | sort > ${folder}/environment
case $1 in
list) echo "go: downloading example.com/a v1.0.0" >&2; printf '1.go\\t${folder}\\texample.com/a\\n3.go\\t${folder}\\tcommand\\n' ;;
build) echo example.com/a >&2; echo command >&2; ${ending} ;;
esac
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

async function build(ending: string) {
  const lines: string[] = [];
  const go = { program: fakeGo(ending), env: GO_ENVIRONMENT };
  const progress = (line: string) => lines.push(line);
  await buildWithGo({
    go,
    title: "command",
    module: "kubernetes",
    packages: ["./etcd", "./coredns"],
    folder,
    progress,
  });
  return lines;
}

test("all packages are built by one command, and progress says how much there is", async () => {
  const lines = await build("exit 0");
  const calls = readFileSync(join(folder, "calls"), "utf8").trimEnd().split("\n");
  expect(calls).toHaveLength(2);
  expect(calls[1]).toMatch(
    /^build -v -trimpath .*-gcflags=all=-dwarf=false -ldflags=-s -w -X .*=v1\.36\.3 -o .* \.\/etcd \.\/coredns$/,
  );
  expect(lines).toEqual([
    "fetching the Go modules of command …",
    expect.stringMatching(/done after \d+ s, 1 modules$/),
    "compiling command …",
    expect.stringMatching(/done after \d+ s, 1\.0 of 4\.0 MB of source, 2 of 2 packages, linking$/),
  ]);
});

test("the user's flags and targets do not change what is built", async () => {
  vi.stubEnv("GOFLAGS", "-mod=vendor -race");
  vi.stubEnv("GOOS", "windows");
  vi.stubEnv("CGO_ENABLED", "1");
  vi.stubEnv("GOPROXY", "file:///proxy");
  try {
    await build("exit 0");
  } finally {
    vi.unstubAllEnvs();
  }
  const environment = readFileSync(join(folder, "environment"), "utf8").split("\n");
  expect(environment).toEqual(
    expect.arrayContaining(["GOFLAGS=-mod=readonly", "GOOS=linux", "CGO_ENABLED=0", "GOWORK=off", "GOTOOLCHAIN=local"]),
  );
  // Where modules come from is the user's choice.
  expect(environment).toContain("GOPROXY=file:///proxy");
});

test("a build that fails shows the end of the compiler's output", async () => {
  await expect(build("echo 'undefined: x' >&2; exit 1")).rejects.toThrow(/exited with code 1:[\s\S]*undefined: x/);
});

test("the compiler gets more memory only where there is enough", () => {
  expect(compilerMemory(3_900_000_000)).toEqual({});
  expect(compilerMemory(8_000_000_000)).toEqual({ GOGC: "400" });
});

test("what is left is estimated from the packages begun so far, of which the later ones take longer", () => {
  let nowMs = 0;
  const packages = Array.from({ length: 100 }, (_, index) => ({ name: `p${index}`, bytes: 1_000_000 }));
  const meter = createBuildProgress(packages, () => nowMs);
  const begin = (from: number, to: number): void => {
    for (const { name } of packages.slice(from, to)) meter.started(name);
  };
  begin(0, 5);
  meter.started("# a warning");
  expect(meter.text()).toBe("4.0 of 100 MB of source, 5 of 100 packages");
  begin(5, 28);
  nowMs = 45_000;
  expect(meter.text()).toBe("27 of 100 MB of source, 28 of 100 packages, about 190 s left");
  begin(28, 88);
  nowMs = 195_000;
  expect(meter.text()).toBe("87 of 100 MB of source, 88 of 100 packages, about 35 s left");
  begin(88, 100);
  expect(meter.text()).toBe("99 of 100 MB of source, 100 of 100 packages, linking");
});
