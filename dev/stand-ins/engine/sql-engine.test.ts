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

describe("literals are cast", () => {
  test.each([
    { sql: "SELECT 1::int", type: "int", value: 1 },
    { sql: "SELECT 9007199254740993::bigint", type: "long", value: "9007199254740993" },
    { sql: "SELECT '-inf'::double precision", type: "double", value: "-inf" },
    { sql: "SELECT '1.10'::numeric(38, 9)", type: "numeric(38, 9)", value: "1.10" },
    { sql: "SELECT 'it''s; -- x'::text", type: "text", value: "it's; -- x" },
    { sql: "SELECT '2024-02-29'::date", type: "date", value: "2024-02-29" },
    { sql: "SELECT true::boolean", type: "boolean", value: true },
    { sql: "SELECT '[1,null]'::array(int null)", type: "array(int null)", value: [1, null] },
    { sql: "SELECT null::int", type: "int null", value: null },
    { sql: "SELECT '::date'", type: "text", value: "::date" },
    { sql: "SELECT 1 -- 2::int", type: "long", value: 1 },
  ])("$sql", ({ sql, type, value }) => {
    const { columns, rows } = run(sql);
    expect({ type: columns[0]?.type, rows }).toEqual({ type, rows: [[value]] });
  });

  test("parameters are bound by name", () => {
    expect(run("SELECT $1, $2", { $1: 7, $2: "it's" }).rows).toEqual([[7, "it's"]]);
  });
});

describe("what cannot be run is refused with the reason", () => {
  test.each([
    { sql: "SELEC 1", want: 'near "SELEC": syntax error' },
    { sql: "SELECT '2024'::date", want: 'invalid input for type date: "2024"' },
    { sql: "SELECT 1::colour", want: "unknown type colour" },
    { sql: "SELECT now()", want: "no such function: now" },
    { sql: "SELECT * FROM nowhere", want: "no such table: nowhere" },
    { sql: "SELECT 'open", want: "unrecognized token" },
    { sql: "", want: "no statement" },
    { sql: "-- nothing", want: "no statement" },
    { sql: "SELECT 1; SELECT 2", want: "only one statement at a time" },
    { sql: "SELECT * FROM generate_series(1, 1000000000)", want: "more than the 1000000" },
    { sql: "SELECT * FROM generate_series(1, 2, 0)", want: "must not be 0" },
    { sql: "CREATE TABLE t (a)", want: "stores no data" },
    { sql: "ATTACH DATABASE '/tmp/stolen' AS x", want: "stores no data" },
    { sql: "PRAGMA query_only = 0", want: "stores no data" },
  ])("$sql", ({ sql, want }) => {
    expect(() => run(sql)).toThrow(
      expect.objectContaining({ name: "StatementError", message: expect.stringContaining(want) }),
    );
  });
});
