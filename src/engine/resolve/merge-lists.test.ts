import fc from "fast-check";
import { expect, test } from "vitest";
import { render } from "../../../test/engine/support/rendered-fixtures.ts";
import { randomTemplate } from "../../../test/harness/fixtures/random-template.ts";
import { byName, concat, concatKeyed } from "./merge-lists.ts";

test("plain lists are concatenated", () => {
  expect(concat([1], [1, 2])).toEqual([1, 1, 2]);
  expect(concat(undefined, undefined)).toEqual([]);
});

test("the engine's entry wins and takes the later position", () => {
  const entry = (name: string, of: string) => ({ name, of });
  expect(concatKeyed([entry("a", "c"), entry("b", "c")], [entry("x", "e"), entry("a", "e")], byName)).toEqual([
    entry("b", "c"),
    entry("x", "e"),
    entry("a", "e"),
  ]);
  expect(concatKeyed([entry("a", "c")], undefined, byName)).toEqual([entry("a", "c")]);
});

test("whatever class and engine contribute, no keyed list of the pod has a key twice", () => {
  const template = randomTemplate("same");
  fc.assert(
    fc.property(template, template, (ofClass, ofEngine) => {
      const layers = { engine: { template: ofEngine }, engineClass: { template: ofClass } };
      const pod = render(layers).statefulSet.spec?.template.spec;
      const [engine] = pod?.containers ?? [];
      const keys: (string[] | undefined)[] = [
        pod?.containers.map(({ name }) => name),
        pod?.initContainers?.map(({ name }) => name),
        pod?.volumes?.map(({ name }) => name),
        pod?.imagePullSecrets?.map(byName),
        pod?.hostAliases?.map(({ ip }) => ip),
        pod?.topologySpreadConstraints?.map(({ topologyKey, whenUnsatisfiable }) => topologyKey + whenUnsatisfiable),
        engine?.env?.map(({ name }) => name),
        engine?.volumeMounts?.map(({ mountPath }) => mountPath),
      ];
      for (const list of keys) expect(list ?? []).toEqual([...new Set(list)]);
    }),
    { numRuns: 100 },
  );
});
