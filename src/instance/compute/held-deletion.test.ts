import { expect, test } from "vitest";
import { heldMessage } from "./held-deletion.ts";

const IDENTITY = { namespace: "ns", name: "lakeside", uid: "u" };

test("names what is deleted with the instance, and how it can still be kept", () => {
  const message = heldMessage(["a"], IDENTITY);
  expect(message).toMatch(/^the instance was deleted, but 1 engine uses it: a;/);
  expect(message).toContain(
    "kubectl annotate fireboltinstance lakeside -n ns --overwrite firebolt.io/delete-despite-engines=true;",
  );
  expect(message).toMatch(
    /the catalogue of a built-in PostgreSQL is deleted with the instance, unless volumeRetention is Retain/,
  );
  expect(message).toContain(
    `kubectl patch fireboltinstance lakeside -n ns --type merge -p '{"spec":{"metadata":{"builtInPostgres":{"volumeRetention":"Retain"}}}}'`,
  );
});

test.each(["yes", "True", ""])("an annotation of %j is reported as ignored", (value) => {
  expect(heldMessage(["a"], IDENTITY, value)).toMatch(
    new RegExp(
      `^the annotation firebolt\\.io/delete-despite-engines is ignored: "${value}" is not "true"\\. the instance`,
    ),
  );
  expect(heldMessage(["a"], IDENTITY)).not.toContain("is ignored");
});
