// A poll that gives up says what it waited for, how often it looked, and what it saw last.
import { expect, test } from "vitest";
import { eventually } from "./eventually.ts";

test("returns what the check returns once it neither throws nor returns false", async () => {
  let checks = 0;
  const check = (): number | false => {
    checks += 1;
    if (checks === 1) throw new Error("not yet");
    return checks > 2 ? checks : false;
  };
  expect(await eventually(check, { pollMs: 1 })).toBe(3);
});

test("a check that returns nothing has come true", async () => {
  expect(await eventually(() => undefined)).toBeUndefined();
});

test("past the deadline it names the condition, the number of checks and the last failure, which is the cause", async () => {
  const failure = new Error("2 of 3 pods are ready");
  const waiting = eventually(
    () => {
      throw failure;
    },
    { timeoutMs: 0, describe: "three ready pods" },
  );
  await expect(waiting).rejects.toMatchObject({
    message: expect.stringMatching(
      /^three ready pods did not come true within 0 ms \(\d+ checks?\): 2 of 3 pods are ready$/,
    ),
    cause: failure,
  });
});

test("without a description it shows the source of the check", async () => {
  const ready = 2;
  await expect(eventually(() => ready > 2, { timeoutMs: 0 })).rejects.toThrow(
    /^\(\) => ready > 2 did not come true within 0 ms \(\d+ checks?\): the check returned false$/,
  );
});
