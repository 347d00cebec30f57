import { expect, test } from "vitest";
import { EXIT } from "../command-line/exit-codes.ts";
import { failureOf } from "./query.ts";

const ERRORS = '{"errors":[{"description":"no such table"}]}';

test.each([
  { name: "a result", status: 200, body: "42\n", isFromEngine: true, code: undefined },
  {
    name: "a result with a column errors",
    status: 200,
    body: '{"data":[],"errors":[]}',
    isFromEngine: true,
    code: undefined,
  },
  { name: "text that is no JSON", status: 200, body: '{"errors"', isFromEngine: true, code: undefined },
  { name: "a statement that is wrong", status: 400, body: ERRORS, isFromEngine: true, code: EXIT.sqlRefused },
  { name: "a statement that failed", status: 500, body: ERRORS, isFromEngine: true, code: EXIT.sqlRefused },
  { name: "one that failed after it began", status: 200, body: ERRORS, isFromEngine: true, code: EXIT.sqlRefused },
  { name: "an engine that shuts down", status: 503, body: ERRORS, isFromEngine: true, code: EXIT.failed },
  { name: "an engine that is overloaded", status: 429, body: "later", isFromEngine: true, code: EXIT.failed },
  { name: "nothing to return", status: 204, body: "", isFromEngine: true, code: undefined },
  { name: "no engine", status: 503, body: "retry shortly", isFromEngine: false, code: EXIT.failed },
  { name: "no such engine", status: 404, body: "there is no engine", isFromEngine: false, code: EXIT.failed },
])("$name: exit code $code", ({ code, ...answer }) => {
  const refusal = failureOf("adhoc", answer);
  expect(refusal?.exitCode).toBe(code);
  if (refusal !== undefined) expect(refusal.message).toContain(answer.body);
});
