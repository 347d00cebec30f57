import { expect, test } from "vitest";
import { LABEL } from "../../api/labels.ts";
import type { ChildKind, ChildObject } from "../model/children.ts";
import { selectOrphans } from "./sweep.ts";

const view = { uid: "u", generations: { current: 5, active: 3, draining: 2, highest: 5 }, routingTarget: 1 };
const child = (kind: ChildKind, generation: string | undefined, metadata = {}): ChildObject => ({
  kind,
  metadata: {
    name: `${kind}-${generation}`,
    uid: `${kind}-${generation}-uid`,
    labels: { [LABEL.engine]: "e", ...(generation === undefined ? {} : { [LABEL.generation]: generation }) },
    ownerReferences: [{ apiVersion: "v", kind: "FireboltEngine", name: "e", uid: "u", controller: true }],
    ...metadata,
  },
});
const swept = (...children: ChildObject[]) => selectOrphans(view, children).map(({ name }) => name);

test.each([
  ["current", "5"],
  ["active", "3"],
  ["draining", "2"],
  ["serving-never-deleted: selected by the routing Service", "1"],
  ["at or above the floor: the view is old", "6"],
  ["no number", "x"],
  ["a number that no operator writes", "04"],
  ["unlabelled: the routing Service itself", undefined],
] as const)("kept because it is %s", (_, generation) => {
  expect(swept(child("StatefulSet", generation))).toEqual([]);
});

test.each([
  [
    "object-of-another-owner: of another owner",
    { ownerReferences: [{ apiVersion: "v", kind: "FireboltEngine", name: "e", uid: "other", controller: true }] },
  ],
  ["not controlled by anybody", { ownerReferences: [] }],
  [
    "owned without being controlled",
    { ownerReferences: [{ apiVersion: "v", kind: "FireboltEngine", name: "e", uid: "u" }] },
  ],
  ["already terminating", { deletionTimestamp: "2026-01-01T00:00:00Z" }],
] as const)("sweep-deletes-only-orphans: exempt because it is %s", (_, metadata) => {
  expect(swept(child("StatefulSet", "4", metadata))).toEqual([]);
});

test("orphans-of-many-generations: everything else below the floor is deleted, kind by kind", () => {
  const mixed = [child("ConfigMap", "4"), child("StatefulSet", "0"), child("Service", "4"), child("StatefulSet", "4")];
  expect(swept(...mixed)).toEqual(["StatefulSet-0", "StatefulSet-4", "Service-4", "ConfigMap-4"]);
});

test("the Service's number keeps, but does not raise the floor", () => {
  const high = { ...view, routingTarget: 9 };
  expect(selectOrphans(high, [child("StatefulSet", "9"), child("StatefulSet", "7")])).toEqual([]);
});

test("draining-kept-until-cleaning: without a draining generation nothing is kept in its place", () => {
  const rested = {
    uid: "u",
    generations: { current: 5, active: 5, draining: undefined, highest: 5 },
    routingTarget: -1,
  };
  expect(selectOrphans(rested, [child("ConfigMap", "2")])).toMatchObject([
    { name: "ConfigMap-2", uid: "ConfigMap-2-uid" },
  ]);
});
