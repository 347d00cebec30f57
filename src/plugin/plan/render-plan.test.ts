import { expect, test } from "vitest";
import { PLAIN } from "../terminal/style.ts";
import { affectedBy, type Effect, type PlannedEffect } from "./effect.ts";
import { planText } from "./render-plan.ts";

const NOTHING: Effect = { type: "nothing" };
const ROLLS: Effect = { type: "rolls", what: "generation 0 → 1", fields: [], how: [] };
const REFUSED: Effect = { type: "refused", by: "operator", problems: ["no"] };
const LIVE: Effect = { type: "live", settings: ["autoStop"] };
const WAITS: Effect = { type: "waits", reason: "InstanceNotReady", message: "not yet" };

const engine = (name: string, effect: Effect) => ({ kind: "FireboltEngine", name, effect });
const planned = (
  kind: string,
  name: string,
  effect: Effect,
  ...consequences: PlannedEffect["consequences"]
): PlannedEffect => ({
  kind,
  namespace: "n",
  name,
  effect,
  consequences,
  warnings: [],
});
const engineClass = (name: string, ...consequences: PlannedEffect["consequences"]) =>
  planned("FireboltEngineClass", name, NOTHING, ...consequences);
const instance = (effect: Effect, ...consequences: PlannedEffect["consequences"]) =>
  planned("FireboltInstance", "i", effect, ...consequences);

const lastLine = (...effects: readonly PlannedEffect[]): string | undefined =>
  planText(effects, [], PLAIN).trimEnd().split("\n").at(-1);

test.each<{ name: string; plan: readonly PlannedEffect[]; want: string }>([
  {
    name: "a class that reaches two engines",
    plan: [engineClass("c", engine("a", ROLLS), engine("b", ROLLS))],
    want: "2 rolling",
  },
  {
    name: "engines of a class that each get something else",
    plan: [engineClass("c", engine("a", ROLLS), engine("b", LIVE), engine("d", REFUSED), engine("e", WAITS))],
    want: "1 rolling, 1 live, 1 waiting, 1 refused",
  },
  {
    name: "an instance that rolls its gateway and refuses engines",
    plan: [instance(ROLLS, engine("a", REFUSED), engine("b", REFUSED))],
    want: "1 rolling, 2 refused",
  },
  {
    name: "an instance that rolls engines",
    plan: [instance(LIVE, engine("a", ROLLS), engine("b", ROLLS))],
    want: "2 rolling, 1 live",
  },
  {
    name: "an engine that the file holds as well as its class",
    plan: [engineClass("c", engine("a", ROLLS), engine("b", ROLLS)), planned("FireboltEngine", "a", ROLLS)],
    want: "2 rolling",
  },
  {
    name: "an engine whose own manifest takes back what the class does",
    plan: [engineClass("c", engine("a", REFUSED)), planned("FireboltEngine", "a", NOTHING)],
    want: "1 without effect",
  },
  {
    name: "an engine that two changes reach counts once, with the worse",
    plan: [engineClass("c", engine("a", ROLLS)), instance(NOTHING, engine("a", REFUSED))],
    want: "1 refused",
  },
  {
    name: "a new class",
    plan: [planned("FireboltEngineClass", "c", { type: "creates", what: "a class" })],
    want: "1 new",
  },
  { name: "a class without affected engines", plan: [engineClass("c")], want: "1 without effect" },
  { name: "nothing", plan: [], want: "nothing to do" },
])("$name: $want", ({ plan, want }) => expect(lastLine(...plan)).toBe(`Plan: ${want}. Nothing has been written.`));

test("the same name in two namespaces is two engines", () => {
  const one = planned("FireboltEngine", "a", ROLLS);
  expect(affectedBy([one, { ...one, namespace: "m" }])).toHaveLength(2);
});
