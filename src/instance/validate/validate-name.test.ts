import { expect, test } from "vitest";
import { instance } from "../../../test/harness/fixtures/manifests.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { validateInstanceName } from "./validate-name.ts";

const postgres = { host: "pg", database: "d", credentialsSecretRef: { name: "s" } };
const judged = (name: string, metadata: object = {}) =>
  validateInstanceName(instance({ name, metadata }) as FireboltInstance).map(({ path, detail }) => `${path} ${detail}`);
const letters = (count: number) => "a".repeat(count);

test.each([
  { name: letters(40), metadata: {} },
  { name: letters(54), metadata: { postgres } },
  { name: "a-1", metadata: {} },
])("$name fits", ({ name, metadata }) => {
  expect(judged(name, metadata)).toEqual([]);
});

test.each([
  {
    name: letters(41),
    metadata: {},
    want: /^metadata\.name has 41 characters, at most 40 .* StatefulSet of its PostgreSQL/,
  },
  { name: letters(64), metadata: {}, want: /^metadata\.name has 64 characters, at most 40/ },
  { name: letters(55), metadata: { postgres }, want: /^metadata\.name has 55 characters, at most 54 .* Services/ },
  { name: "a.b", metadata: {}, want: /^metadata\.name must start with a lower-case letter/ },
  { name: "9a", metadata: {}, want: /^metadata\.name must start with a lower-case letter/ },
])("$name does not", ({ name, metadata, want }) => {
  expect(judged(name, metadata)).toEqual([expect.stringMatching(want)]);
});
