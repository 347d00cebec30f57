import { expect, test } from "vitest";
import { numberedQuery, wrongAnswer } from "./queries.ts";

test("every query has a different result", () => {
  const queries = Array.from({ length: 50 }, (_, n) => numberedQuery(n));
  expect(new Set(queries.map(({ answer }) => answer)).size).toBe(50);
  expect(queries[6]).toEqual({ sql: "SELECT 6 * 7 + 1 AS answer", answer: 43 });
});

test.each([
  { body: '{"data":[[43]]}', want: undefined },
  { body: '{"data":[["43"]]}', want: undefined },
  { body: '{"data":[[42]]}', want: "returned 42 instead of 43" },
  { body: '{"data":[]}', want: "returned undefined instead of 43" },
  { body: '{"errors":[]}', want: 'not a query response: {"errors":[]}' },
])("$body → $want", ({ body, want }) => expect(wrongAnswer(body, 43)).toBe(want));

test("a result that is not JSON is wrong", () => expect(wrongAnswer("upstream gone", 43)).toMatch(/JSON/));
