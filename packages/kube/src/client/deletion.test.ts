// Which responses mean that the object no longer exists. The cases are responses of a real API server (see
// packages/kube/test/integration/client.test.ts).
import { expect, test } from "vitest";
import { removedByDelete, removedByUpdate } from "./deletion.ts";

const TIME = "2026-01-01T00:00:00Z";

test.each([
  { name: "removed at once, returned as it last was", metadata: {}, byDelete: true, byUpdate: false },
  {
    name: "waiting for a finalizer",
    metadata: { deletionTimestamp: TIME, finalizers: ["x"] },
    byDelete: false,
    byUpdate: false,
  },
  {
    name: "foreground",
    metadata: { deletionTimestamp: TIME, deletionGracePeriodSeconds: 0, finalizers: ["foregroundDeletion"] },
    byDelete: false,
    byUpdate: false,
  },
  {
    name: "a pod in its grace period",
    metadata: { deletionTimestamp: TIME, deletionGracePeriodSeconds: 30 },
    byDelete: false,
    byUpdate: false,
  },
  {
    name: "a pod killed at once",
    metadata: { deletionTimestamp: TIME, deletionGracePeriodSeconds: 0 },
    byDelete: true,
    byUpdate: true,
  },
  {
    name: "the last finalizer removed",
    metadata: { deletionTimestamp: TIME, finalizers: [] },
    byDelete: true,
    byUpdate: true,
  },
])("$name", ({ metadata, byDelete, byUpdate }) => {
  expect({ byDelete: removedByDelete({ metadata }), byUpdate: removedByUpdate({ metadata }) }).toEqual({
    byDelete,
    byUpdate,
  });
});

test("a namespace is held by the finalizers in its spec", () => {
  const namespace = { kind: "Namespace", metadata: { deletionTimestamp: TIME }, spec: { finalizers: ["kubernetes"] } };
  expect(removedByDelete(namespace)).toBe(false);
  const released = { ...namespace, spec: {} };
  expect(removedByDelete(released)).toBe(true);
});
