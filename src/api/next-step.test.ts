// A next step inside a message is found again, whatever the cause quotes.
import { expect, test } from "vitest";
import { splitNextStep, withNextStep } from "./next-step.ts";

test.each([
  [withNextStep("cause; more", "do this: kubectl x; then that"), "cause; more", "do this: kubectl x; then that"],
  [withNextStep('"quoted; next: wrong"', "right"), '"quoted; next: wrong"', "right"],
  ["a cause alone", "a cause alone", undefined],
])("%s", (message, cause, next) => {
  expect(splitNextStep(message)).toEqual({ cause, next });
});
