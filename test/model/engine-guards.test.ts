// Guards that the explorer cannot reach, because a second guard stands before each of them: what the sweep may take
// when its view is older than the objects, or when foreign objects carry the engine's labels.
import { describe, expect, test } from "vitest";
import { LABEL } from "../../src/api/labels.ts";
import { selectOrphans } from "../../src/engine/compute/sweep.ts";
import type { ChildObject } from "../../src/engine/model/children.ts";

const child = (generation: number | string | undefined, owner = "u1"): ChildObject => ({
  kind: "StatefulSet",
  metadata: {
    name: `e1-g${generation}`,
    uid: `uid-${generation}`,
    labels: { [LABEL.engine]: "e1", ...(generation === undefined ? {} : { [LABEL.generation]: String(generation) }) },
    ownerReferences: [{ apiVersion: "v1", kind: "FireboltEngine", name: "e1", uid: owner, controller: true }],
  },
});

const view = { uid: "u1", generations: { current: 5, active: 4, draining: 3, highest: 5 }, routingTarget: 2 };
const swept = (...children: readonly ChildObject[]) => selectOrphans(view, children).map(({ name }) => name);

describe("the sweep", () => {
  test("takes what nothing refers to any more", () => {
    expect(swept(child(1), child(0))).toEqual(["e1-g1", "e1-g0"]);
  });

  test.each([2, 3, 4, 5, 6, 40])("keeps what is named, what queries go to and what is newer: %i", (generation) => {
    expect(swept(child(generation)), `the sweep would delete generation ${generation}`).toEqual([]);
  });

  test.each([
    { what: "of another owner", object: child(1, "u2") },
    { what: "without a generation", object: child(undefined) },
    { what: "with something else than a number", object: child("01") },
  ])("leaves alone what is not the engine's: $what", ({ object }) => {
    expect(swept(object), `the sweep would delete ${object.metadata.name}`).toEqual([]);
  });
});
