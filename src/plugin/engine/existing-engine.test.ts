// When an existing engine matches the request.
import { expect, test } from "vitest";
import { differencesFrom } from "./existing-engine.ts";

const EXISTING = {
  instanceRef: "lakeside",
  replicas: 2,
  customEngineConfig: { storage: { managed_table_bucket_name: "top-secret" }, log: { level: "debug" } },
  template: {
    spec: {
      containers: [
        { name: "side", image: "s:1" },
        { name: "engine", image: "e:1" },
      ],
    },
  },
};
const container = (image: string) => ({ template: { spec: { containers: [{ name: "engine", image }] } } });

test.each([
  { name: "fields that were not requested", wanted: { instanceRef: "lakeside", replicas: 2 }, found: [] },
  { name: "the same image behind a sidecar", wanted: container("e:1"), found: [] },
  { name: "another number", wanted: { replicas: 1 }, found: ["spec.replicas: 2 \u2192 1"] },
  { name: "a class", wanted: { engineClassRef: "large" }, found: ["spec.engineClassRef: unset \u2192 large"] },
  {
    name: "another image",
    wanted: container("e:2"),
    found: ["spec.template.spec.containers[0].image: e:1 \u2192 e:2"],
  },
  {
    name: "configuration, without its values",
    wanted: { customEngineConfig: { storage: { managed_table_bucket_name: "other" } } },
    found: ["spec.customEngineConfig.storage.managed_table_bucket_name"],
  },
])("$name", ({ wanted, found }) => {
  expect(differencesFrom(EXISTING, wanted).map(({ text }) => text)).toEqual(found);
});
