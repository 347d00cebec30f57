import { describe, expect, test } from "vitest";
import { openSqlEngine } from "./sql-engine.ts";

const run = openSqlEngine();

describe("queries are computed", () => {
  test.each([
    { sql: "SELECT 42", want: [[42]] },
    { sql: " select -1 ; ", want: [[-1]] },
    { sql: "SELECT 6 * 7, 1.5, 'a', NULL, x'0aff'", want: [[42, 1.5, "a", null, "\\x0aff"]] },
    { sql: "SELECT 1 AS a, 2 AS a", want: [[1, 2]] },
    { sql: "SELECT 9007199254740993", want: [["9007199254740993"]] },
    { sql: "SELECT sum(value) FROM generate_series(1, 100)", want: [[5050]] },
    { sql: "SELECT value FROM generate_series(10, 1, -4) AS s", want: [[10], [6], [2]] },
    { sql: "SELECT count(*) FROM generate_series(2,1)", want: [[0]] },
    { sql: "SELECT a.value FROM generate_series(1,2) a, generate_series(1,2) b GROUP BY 1", want: [[1], [2]] },
    { sql: "SELECT 'generate_series(1,2); it''s text'", want: [["generate_series(1,2); it's text"]] },
    { sql: "SELECT 1 -- ; DROP TABLE x\n + 1", want: [[2]] },
    { sql: "SELECT 1 /* ; */; /* the end */", want: [[1]] },
    { sql: `SELECT 1 /*${"x".repeat(3_000_000)}*/`, want: [[1]] },
    { sql: `SELECT length('${"x".repeat(3_000_000)}')`, want: [[3_000_000]] },
  ])("$sql", ({ sql, want }) => {
    expect(run(sql).rows).toEqual(want);
  });

  test("columns have names and types", () => {
    expect(run("SELECT 1 AS a, 0.5, 'x' AS b, NULL AS c").columns).toEqual([
      { name: "a", type: "long" },
      { name: "0.5", type: "double" },
      { name: "b", type: "text" },
      { name: "c", type: "null" },
    ]);
  });
});

describe("what cannot be run is refused with the reason", () => {
  test.each([
    { sql: "SELEC 1", want: 'near "SELEC": syntax error' },
    { sql: "SELECT now()", want: "no such function: now" },
    { sql: "SELECT * FROM nowhere", want: "no such table: nowhere" },
    { sql: "SELECT 'open", want: "unrecognized token" },
    { sql: "", want: "no statement" },
    { sql: "-- nothing", want: "no statement" },
    { sql: "SELECT 1; SELECT 2", want: "only one statement at a time" },
    { sql: "SELECT * FROM generate_series(1, 1000000000)", want: "more than the 1000000" },
    { sql: "SELECT * FROM generate_series(1, 2, 0)", want: "must not be 0" },
    { sql: "CREATE TABLE t (a)", want: "keeps no data" },
    { sql: "ATTACH DATABASE '/tmp/stolen' AS x", want: "keeps no data" },
    { sql: "PRAGMA query_only = 0", want: "keeps no data" },
  ])("$sql", ({ sql, want }) => {
    expect(() => run(sql)).toThrow(
      expect.objectContaining({ name: "StatementError", message: expect.stringContaining(want) }),
    );
  });
});
