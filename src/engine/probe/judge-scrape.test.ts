import { KubeApiError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { judgeFailure, judgeResponse } from "./judge-scrape.ts";

const page = (...lines: readonly string[]) => ({ status: 200, body: `${lines.join("\n")}\n` });

test("only two gauges at zero are idle", () => {
  const { queries, responded } = judgeResponse(page("firebolt_running_queries 0", "firebolt_suspended_queries 0"));
  expect([queries, responded]).toEqual([{ type: "idle" }, true]);
});

test.each([
  ["drain-with-busy-pod: a running query", page("firebolt_running_queries 2", "firebolt_suspended_queries 0"), 2],
  [
    "drain-with-suspended-query: a suspended query",
    page("firebolt_running_queries 0", "firebolt_suspended_queries 1"),
    1,
  ],
] as const)("%s is busy", (_, response, queries) => {
  expect(judgeResponse(response).queries).toEqual({ type: "busy", queries });
});

test.each([
  [
    "gauge-with-labels-only: a gauge with labels only",
    page('firebolt_running_queries{a="b"} 0', "firebolt_suspended_queries 0"),
  ],
  ["drain-with-silent-pod: a gauge that is missing", page("firebolt_running_queries 0")],
  ["drain-with-silent-pod: a response that is no page", { status: 503, body: "" }],
] as const)("%s is not zero", (_, response) => {
  expect(judgeResponse(response).queries).toMatchObject({ type: "failing" });
});

test("drain-with-silent-pod: a pod that does not respond is not idle, and neither is one that the API server does not reach", () => {
  const unreached = judgeFailure(new KubeApiError("get pods/proxy", 503, { reason: "ServiceUnavailable" }));
  const silent = judgeFailure(new Error("connect ECONNREFUSED 10.0.0.1:9090"));
  for (const { queries, responded } of [unreached, silent]) {
    expect(queries).toMatchObject({ type: "failing" });
    expect(responded).toBe(false);
  }
});
