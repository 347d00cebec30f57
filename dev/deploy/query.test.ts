import { expect, test } from "vitest";
import { parseRows } from "./query.ts";

test("rows are taken from a response", () => expect(parseRows('{"data":[[1,"a"],[2,"b"]],"rows":2}')).toHaveLength(2));

test.each(['{"errors":[{"description":"killed"}]}', '{"data":[1]}', '{"data":null}', "[]"])(
  "%s is not a result, and is shown",
  (body) => expect(() => parseRows(body)).toThrow(`not a query response: ${body}`),
);
