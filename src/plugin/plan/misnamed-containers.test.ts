// Which containers are most likely misspelt.
import { expect, test } from "vitest";
import { misnamedContainers } from "./misnamed-containers.ts";

const template = (...names: readonly string[]) => ({ spec: { containers: names.map((name) => ({ name })) } });

test.each([
  { names: ["engine"], warns: 0 },
  { names: ["enigne"], warns: 1 },
  { names: ["engine", "engin"], warns: 1 },
  { names: ["log-agent", "proxy"], warns: 0 },
])("$names", ({ names, warns }) => {
  expect(misnamedContainers("engine", template(...names), "spec.template")).toHaveLength(warns);
});

test("the warning names the field and the name that was meant", () => {
  expect(misnamedContainers("engine", template("enigne"), "spec.template")).toEqual([
    'spec.template.spec.containers[0].name: "enigne" runs as a sidecar beside the engine container (did you mean "engine"?)',
  ]);
});
