// The webhook server on a loopback port, with validators that fail, never return or exceed the concurrency limit: every
// request gets one verdict, or an HTTP error status.
import { Agent } from "node:https";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { describe, expect, test } from "vitest";
import { type HttpAnswer, startAdmissionLoopback } from "../../../test/admission/support/loopback.ts";
import { hookOf, parseResponse, review, UID } from "../../../test/admission/support/review-fixtures.ts";
import { engine } from "../../../test/harness/fixtures/manifests.ts";
import type { Validator } from "../validators/validator.ts";

const requestBody = (object: object = engine({ name: "e" })) => JSON.stringify(review("validate-engine", { object }));

describe("validators that fail", () => {
  test("a defect denies with code 500 instead of closing the connection", async () => {
    const broken: Validator = () => Promise.reject(new TypeError("cannot read properties of undefined"));
    await using loopback = await startAdmissionLoopback({ "validate-engine": broken });
    const { status, body } = await loopback.send({ body: requestBody() });
    expect(status).toBe(200);
    expect(parseResponse(body)).toMatchObject({
      uid: UID,
      allowed: false,
      status: { code: 500, reason: "InternalError" },
    });
    expect(body).not.toContain("cannot read");
  });

  test("a validator that never returns denies before the timeout of the API server", async () => {
    const clock = new ManualClock();
    const begun = Promise.withResolvers<AbortSignal>();
    const stuck: Validator = (_request, signal) => {
      begun.resolve(signal);
      return new Promise(() => undefined);
    };
    await using loopback = await startAdmissionLoopback({ "validate-engine": stuck }, { clock });
    // The stop waits for this clock too.
    await using stopping = new AsyncDisposableStack();
    stopping.defer(() => {
      loopback.stop.abort();
      return clock.advance(0);
    });
    const response = loopback.send({ body: requestBody(), path: `${hookOf("validate-engine").path}?timeout=3s` });
    const deadline = await begun.promise;
    await clock.advance(2_699);
    expect(deadline.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.aborted).toBe(true);
    const { body } = await response;
    expect(parseResponse(body)).toMatchObject({ allowed: false, status: { code: 504, reason: "Timeout" } });
  });
});

describe("many concurrent requests", () => {
  test("1,000 requests: every one is validated, no more than the limit at a time", async () => {
    let inside = 0;
    let most = 0;
    const slow: Validator = async ({ object }) => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      const denied = JSON.stringify(object).includes("deny-me");
      return denied ? { type: "deny", code: 403, message: "no", violations: [] } : { type: "allow", warnings: [] };
    };
    await using loopback = await startAdmissionLoopback({ "validate-engine": slow });
    const agent = new Agent({ ca: loopback.authority.certificate, keepAlive: true, maxSockets: 200 });
    const verdicts = await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => {
        const name = index % 2 === 0 ? `e${index}` : "deny-me";
        return parseResponse((await loopback.send({ agent, body: requestBody(engine({ name })) })).body).allowed;
      }),
    );
    agent.destroy();
    expect(verdicts.filter(Boolean)).toHaveLength(500);
    expect(verdicts.every((allowed, index) => allowed === (index % 2 === 0))).toBe(true);
    expect(most).toBeLessThanOrEqual(64);
  });

  test("with a full queue requests get 503 and no verdict", async () => {
    const release = Promise.withResolvers<void>();
    const held: Validator = async () => {
      await release.promise;
      return { type: "allow", warnings: [] };
    };
    await using loopback = await startAdmissionLoopback(
      { "validate-engine": held },
      { limits: { requests: 1, bytes: 1e9, waiting: 1 } },
    );
    const all = Array.from({ length: 5 }, () => loopback.send({ body: requestBody() }));
    const early: HttpAnswer[] = [];
    await new Promise<void>((resolve) => {
      for (const one of all) void one.then((response) => early.push(response) === 3 && resolve());
    });
    expect(early.map(({ status, headers }) => [status, headers["retry-after"]])).toEqual(Array(3).fill([503, "1"]));
    release.resolve();
    expect((await Promise.all(all)).map(({ status }) => status).sort()).toEqual([200, 200, 503, 503, 503]);
  });
});
