// Which error responses are retried, and when.
import { expect, test } from "vitest";
import type { ApiStatus } from "../core/errors.ts";
import { parseRetryAfter, retryDelayMs } from "./retry-after.ts";

const NOW = Date.UTC(2026, 0, 1);

test.each([
  { value: "2", want: 2000 },
  { value: "0", want: 0 },
  { value: new Date(NOW + 5000).toUTCString(), want: 5000 },
  { value: new Date(NOW - 5000).toUTCString(), want: 0 },
  { value: "soon", want: undefined },
  { value: "", want: undefined },
  { value: undefined, want: undefined },
])("Retry-After $value is $want ms", ({ value, want }) => {
  expect(parseRetryAfter(value, NOW)).toBe(want);
});

const budget: ApiStatus = { details: { causes: [{ reason: "DisruptionBudget" }] } };

test.each([
  { name: "429 waits for Retry-After", status: 429, retryAfter: "3", want: 3000 },
  { name: "429 without Retry-After waits a second", status: 429, want: 1000 },
  { name: "the default wait doubles with every retry", status: 429, retries: 2, want: 4000 },
  { name: "the default wait has a maximum", status: 429, retries: 20, want: 16_000 },
  { name: "503 with Retry-After is retried", status: 503, retryAfter: "1", want: 1000 },
  { name: "504 with Retry-After is retried", status: 504, retryAfter: "1", want: 1000 },
  { name: "503 without Retry-After is final", status: 503, want: undefined },
  { name: "500 is final, with or without Retry-After", status: 500, retryAfter: "1", want: undefined },
  { name: "409 is final", status: 409, want: undefined },
  {
    name: "an eviction against a disruption budget is final",
    status: 429,
    retryAfter: "10",
    body: budget,
    want: undefined,
  },
])("$name", ({ status, retryAfter, retries = 0, body, want }) => {
  expect(retryDelayMs({ status, retryAfter, body, retries }, NOW, () => 0)).toBe(want);
});

test("jitter only lengthens the wait, by at most a quarter", () => {
  const delay = (random: number) =>
    retryDelayMs({ status: 429, retryAfter: "4", body: undefined, retries: 0 }, NOW, () => random);
  expect(delay(0)).toBe(4000);
  expect(delay(0.999)).toBeLessThan(5000);
  expect(delay(0.999)).toBeGreaterThan(4900);
});
