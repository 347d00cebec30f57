// The difference from Promise.all: a failure is reported only when no start is in progress any more.
import { expect, test } from "vitest";
import { together } from "./start-together.ts";

test("all results come back in order", async () => {
  expect(await together([Promise.resolve(1), Promise.resolve("two")])).toEqual([1, "two"]);
});

test("a failure waits for the others", async () => {
  const slow = Promise.withResolvers<void>();
  let isOver = false;
  const result = together([Promise.reject(new Error("no")), slow.promise]).finally(() => {
    isOver = true;
  });
  result.catch(() => undefined);
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  slow.resolve();
  await expect(result).rejects.toThrow("no");
});
