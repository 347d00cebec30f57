import { describe, expect, test } from "vitest";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { type Operator, watchOf } from "./operators.ts";
import { type Found, planRemoval, type RemovalOptions, removalText } from "./removal.ts";

const engine = (namespace: string, name: string, labels: Record<string, string> = {}): Found => ({
  type: FireboltEngine,
  object: { metadata: { namespace, name, labels } },
});
const instance = (namespace: string, name: string): Found => ({
  type: FireboltInstance,
  object: { metadata: { namespace, name } },
});
const operator = (namespace: string, release: string, namespaces: readonly string[] = [], selector = ""): Operator => ({
  namespace,
  release,
  watch: { namespaces, selector },
});
const SHARED = operator("firebolt-operator", "firebolt-operator", [], "!private");
const PRIVATE = operator("team-b", "own", ["team-b"]);
const ALL = [
  engine("team-a", "a"),
  engine("team-b", "b", { private: "yes" }),
  engine("team-c", "c"),
  instance("team-a", "i"),
];
const OPTIONS: RemovalOptions = {
  release: "firebolt-operator",
  operatorNamespace: "firebolt-operator",
  namespace: undefined,
  deleteResources: true,
  crds: false,
};
const namesOf = (found: readonly Found[]): readonly (string | undefined)[] =>
  found.map(({ object }) => object.metadata?.name);

function plan(
  options: Partial<RemovalOptions>,
  operators: readonly Operator[] = [SHARED, PRIVATE],
  objects: readonly Found[] = ALL,
) {
  const removal = planRemoval({ ...OPTIONS, ...options }, { operators, objects });
  if (removal.type === "refused") return removal.message;
  const { objects: going, left, foreign, ...rest } = removal;
  return { going: namesOf(going), left: namesOf(left), foreign: namesOf(foreign), ...rest };
}

test.each([
  { args: [], want: { namespaces: [], selector: "" } },
  { args: ["--namespaces=a,b", "--leader-elect"], want: { namespaces: ["a", "b"], selector: "" } },
  { args: ["-namespaces", "a, b,,a"], want: { namespaces: ["a", "b"], selector: "" } },
  { args: ["--namespaces=a", "--namespaces=b"], want: { namespaces: ["b"], selector: "" } },
  { args: ["--watch-label-selector=team in (a,b),!x"], want: { namespaces: [], selector: "team in (a,b),!x" } },
])("what a manager with $args watches", ({ args, want }) => expect(watchOf(args)).toEqual(want));

describe("what is deleted", () => {
  test("what the release watches, in all namespaces", () => {
    expect(plan({})).toMatchObject({
      going: ["a", "c", "i"],
      left: [],
      foreign: ["b"],
      operator: true,
      definitions: false,
    });
  });

  test("only the named namespace; the operator stays with the others", () => {
    expect(plan({ namespace: "team-a" })).toMatchObject({
      going: ["a", "i"],
      left: ["c"],
      foreign: ["b"],
      operator: false,
      definitions: false,
    });
  });

  test("what another operator watches as well is not touched", () => {
    const everything = operator("firebolt-operator", "firebolt-operator");
    expect(plan({}, [everything, PRIVATE])).toMatchObject({ going: ["a", "c", "i"], foreign: ["b"] });
  });

  test("the private one alone", () => {
    expect(plan({ release: "own", operatorNamespace: "team-b" })).toMatchObject({ going: ["b"], operator: true });
  });

  test("the CRDs, if no other operator needs them", () => {
    expect(plan({ crds: true }, [SHARED], [engine("team-a", "a")])).toMatchObject({ going: ["a"], definitions: true });
  });

  test("nothing is installed: nothing is rejected", () => {
    expect(plan({ deleteResources: false }, [], [])).toMatchObject({ going: [], operator: true });
  });
});

test.each<{ name: string; options: Partial<RemovalOptions>; operators?: readonly Operator[]; want: RegExp }>([
  {
    name: "objects are left",
    options: { deleteResources: false },
    want: /^there are still objects .*: 1 FireboltEngine in team-a, 1 FireboltEngine in team-c, 1 FireboltInstance in team-a\n.*--delete-resources/,
  },
  {
    name: "a namespace that the release does not watch",
    options: { release: "own", operatorNamespace: "team-b", namespace: "team-a" },
    want: /^the operator team-b\/own does not watch namespace "team-a", but team-b\n.*firebolt-operator\/firebolt-operator/,
  },
  {
    name: "a release that is not there",
    options: { release: "typo" },
    want: /^there is no operator of release .*\/typo.*\n.*team-b\/own/,
  },
  {
    name: "definitions that others need",
    options: { crds: true },
    want: /^--crds: .* 1 FireboltEngine in team-b would be deleted .*team-b\/own.*\nomit --crds$/s,
  },
  {
    name: "CRDs of objects that no operator watches",
    options: { crds: true },
    operators: [SHARED],
    want: /^--crds: .* 1 FireboltEngine in team-b would be deleted/,
  },
])("rejected: $name", ({ options, operators, want }) => expect(plan(options, operators)).toMatch(want));

test("the list names what is deleted, what is kept and why", () => {
  const options = { ...OPTIONS, namespace: "team-a" };
  const removal = planRemoval(options, { operators: [SHARED, PRIVATE], objects: ALL });
  if (removal.type === "refused") throw new Error(removal.message);
  expect(removalText(removal, options)).toBe(
    [
      "This deletes:",
      "  FireboltEngine in team-a: a",
      "  FireboltInstance in team-a: i",
      "Deleting an instance also deletes its credentials and, with the built-in PostgreSQL, its catalogue.",
      "The operator firebolt-operator/firebolt-operator is kept, because it watches objects in other namespaces:",
      "  FireboltEngine in team-c: c",
      "Kept, because firebolt-operator/firebolt-operator does not watch them, or another operator does too:",
      "  FireboltEngine in team-b: b",
      "",
    ].join("\n"),
  );
});
