import { expect, test } from "vitest";
import { parseManifests } from "./manifests.ts";
import { SAMPLE, samplePlatform } from "./sample.ts";

test("documents are read in order, empty ones are left out", () => {
  const text =
    "apiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n---\n# nothing\n---\napiVersion: v1\nkind: Secret\nmetadata: { name: b }\n";
  expect(parseManifests(text, "x.yaml").map(({ kind }) => kind)).toEqual(["Namespace", "Secret"]);
});

test.each([
  { text: "a: [", want: /^x\.yaml is not YAML/ },
  { text: "just text", want: /^x\.yaml holds something without apiVersion, kind and metadata\.name/ },
  { text: "apiVersion: v1\nkind: Secret\nmetadata: {}\n", want: /metadata\.name/ },
])("$text is refused with the name of the file", ({ text, want }) => {
  expect(() => parseManifests(text, "x.yaml")).toThrow(want);
});

test("the sample contains the documented objects, the namespace first", () => {
  const names = samplePlatform().map(({ kind, metadata }) => [kind, metadata?.name]);
  expect(names).toEqual([
    ["Namespace", SAMPLE.namespace],
    ["FireboltInstance", SAMPLE.instance],
    ["FireboltEngineClass", SAMPLE.engineClass],
    ...SAMPLE.engines.map((name) => ["FireboltEngine", name]),
  ]);
});

test("the sample can go to another namespace, which is restricted too", () => {
  const [namespace, ...others] = samplePlatform("elsewhere");
  expect(namespace).toMatchObject({
    metadata: { name: "elsewhere", labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  });
  expect(new Set(others.map(({ metadata }) => metadata?.namespace))).toEqual(new Set(["elsewhere"]));
});
