// The queries of docs/operations/slos.md are PromQL: Prometheus's own tool reads each of them as a recording rule.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkRules } from "../harness/programs/promtool.ts";
import { ROOT } from "./support/pages.ts";

const page = readFileSync(join(ROOT, "docs/operations/slos.md"), "utf8");

test("promtool accepts every query of the page", async () => {
  const queries = [...page.matchAll(/^```promql\n([^`]+)```$/gm)].map(([, expr = ""]) => expr);
  expect(queries).toHaveLength(2);
  const rules = queries.map((expr, index) => ({ record: `page:query:${index}`, expr }));
  expect(await checkRules([{ name: "page", rules }])).toContain("SUCCESS: 2 rules found");
});
