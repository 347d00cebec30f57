import { expect, test } from "vitest";
import { imageValues, splitReference } from "./image-values.ts";

test("the operator's image is the chart's own, the others are defaults, and the cluster's stay out", () => {
  const images = [
    { name: "operator", reference: "localhost/firebolt/operator:0.1.0-ab" },
    { name: "engine", reference: "localhost/firebolt/engine:1" },
    { name: "pause", reference: "localhost/firebolt/pause:1" },
  ];
  expect(imageValues(images)).toEqual({
    image: { repository: "localhost/firebolt/operator", tag: "0.1.0-ab" },
    defaultImages: { engine: "localhost/firebolt/engine:1" },
  });
});

test("nothing given changes nothing", () => expect(imageValues([])).toEqual({}));

test.each([
  { reference: "a:1", want: { repository: "a", tag: "1" } },
  { reference: "registry:5000/a/b:1.2", want: { repository: "registry:5000/a/b", tag: "1.2" } },
  { reference: "registry:5000/a@sha256:0f", want: { repository: "registry:5000/a", digest: "sha256:0f" } },
  { reference: "r/a:1@sha256:0f", want: { repository: "r/a", tag: "1", digest: "sha256:0f" } },
])("$reference", ({ reference, want }) => expect(splitReference(reference)).toEqual(want));

test("an image without tag and digest is refused, also when its registry has a port", () => {
  expect(() => splitReference("registry:5000/a")).toThrow('"registry:5000/a" has neither tag nor digest');
});
