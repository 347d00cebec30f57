import { describe, expect, test } from "vitest";
import { defaultPullPolicy, firstPartyPullPolicy, parseImageReference } from "./image-reference.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("parseImageReference", () => {
  test.each([
    ["postgres", { name: "postgres" }],
    ["postgres:16-alpine", { name: "postgres", tag: "16-alpine" }],
    ["localhost:5000/engine", { name: "localhost:5000/engine" }],
    ["localhost:5000/engine:dev", { name: "localhost:5000/engine", tag: "dev" }],
    ["registry:5000", { name: "registry", tag: "5000" }],
    [`ghcr.io/firebolt-db/engine@${DIGEST}`, { name: "ghcr.io/firebolt-db/engine", digest: DIGEST }],
    [`ghcr.io/a/b:v1@${DIGEST}`, { name: "ghcr.io/a/b", tag: "v1", digest: DIGEST }],
    ["[::1]:5000/a:b", { name: "[::1]:5000/a", tag: "b" }],
    ["Host/repo:latest", { name: "Host/repo", tag: "latest" }],
  ])("%s", (text, want) => {
    expect(parseImageReference(text)).toEqual(want);
  });

  test.each([
    "",
    "Postgres",
    "ghcr.io/Upper/case",
    "a b",
    "a:",
    "a@sha256:short",
    `a@SHA256:${"A".repeat(64)}`,
    `a@sha1:${"a".repeat(40)}`,
    "a".repeat(64),
    `${"x".repeat(256)}:latest`,
    "y".repeat(100_000),
  ])("%s is refused", (text) => {
    expect(parseImageReference(text)).toBeUndefined();
  });
});

test.each([
  { image: "e:latest", plain: "Always", firstParty: "Always" },
  { image: "e", plain: "Always", firstParty: "Always" },
  { image: "localhost:5000/e", plain: "Always", firstParty: "Always" },
  { image: "e:dev", plain: "IfNotPresent", firstParty: "Always" },
  { image: "e:v1", plain: "IfNotPresent", firstParty: "IfNotPresent" },
  { image: `e@${DIGEST}`, plain: "IfNotPresent", firstParty: "IfNotPresent" },
  { image: `e:latest@${DIGEST}`, plain: "Always", firstParty: "Always" },
  { image: `e:dev@${DIGEST}`, plain: "IfNotPresent", firstParty: "Always" },
  // What cannot be read has no tag, as the API server sees it.
  { image: "Bad:latest", plain: "IfNotPresent", firstParty: "IfNotPresent" },
])("pull policy of $image", ({ image, plain, firstParty }) => {
  expect(defaultPullPolicy(image)).toBe(plain);
  expect(firstPartyPullPolicy(image)).toBe(firstParty);
});
