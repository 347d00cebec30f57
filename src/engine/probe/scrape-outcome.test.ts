import { KubeApiError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import { outcomeOfFailure, outcomeOfResponse } from "./scrape-outcome.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

const page = (...lines: readonly string[]) => ({ status: 200, body: `${lines.join("\n")}\n` });

test("only two gauges at zero are idle", () => {
  const { queries, responded } = outcomeOfResponse(page(`${GAUGE.running} 0`, `${GAUGE.suspended} 0`));
  expect([queries, responded]).toEqual([{ type: "idle" }, true]);
});

test.each([
  ["drain-with-busy-pod: a running query", page(`${GAUGE.running} 2`, `${GAUGE.suspended} 0`), 2],
  ["drain-with-suspended-query: a suspended query", page(`${GAUGE.running} 0`, `${GAUGE.suspended} 1`), 1],
] as const)("%s is busy", (_, response, queries) => {
  expect(outcomeOfResponse(response).queries).toEqual({ type: "busy", queries });
});

test.each([
  ["gauge-with-labels-only: a gauge with labels only", page(`${GAUGE.running}{a="b"} 0`, `${GAUGE.suspended} 0`)],
  ["drain-with-silent-pod: a gauge that is missing", page(`${GAUGE.running} 0`)],
  ["drain-with-silent-pod: a response that is no page", { status: 503, body: "" }],
] as const)("%s is not zero", (_, response) => {
  expect(outcomeOfResponse(response).queries).toMatchObject({ type: "failing" });
});

test("drain-with-silent-pod: a pod that does not respond is not idle, and neither is one that the API server does not reach", () => {
  const unreached = outcomeOfFailure(new KubeApiError("get pods/proxy", 503, { reason: "ServiceUnavailable" }));
  const silent = outcomeOfFailure(new Error("connect ECONNREFUSED 10.0.0.1:9090"));
  for (const { queries, responded } of [unreached, silent]) {
    expect(queries).toMatchObject({ type: "failing" });
    expect(responded).toBe(false);
  }
});
