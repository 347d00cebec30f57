// What the status keeps of a scrape that failed.
import { expect, test } from "vitest";
import { FAILURE_MAX_LENGTH } from "../../api/firebolt-engine/status.ts";
import { scrapeFailureText, storedScrapeFailure } from "./scrape-failure.ts";

test("a long cause is cut to what the CRD allows; the next step stays whole", () => {
  const text = scrapeFailureText({ type: "failed", cause: "c".repeat(5_000) });
  expect(text).toHaveLength(FAILURE_MAX_LENGTH);
  expect(text).toMatch(/c\.\.\.; next: make the pod respond on its metrics port, or delete it$/);
});

test("a failure that an operator without the field has left behind does not count", () => {
  const scrapeFailure = "pod e-g0-0: no response";
  expect(storedScrapeFailure({ autoStopReason: "ScrapeFailed", scrapeFailure })).toBe(scrapeFailure);
  expect(storedScrapeFailure({ autoStopReason: "Active", scrapeFailure })).toBeUndefined();
  expect(storedScrapeFailure(undefined)).toBeUndefined();
});
