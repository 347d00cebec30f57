import { expect, test } from "vitest";
import type { RawRequest } from "../client/client.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { type AccessReviewLimits, createAccessReview } from "./access-review.ts";

const SIGNAL = new AbortController().signal;
const USER = { username: "prometheus", uid: "u1", groups: ["monitoring"], extra: { "example.com/x": ["y"] } };
const good = { authenticated: true, user: USER };

interface Setup {
  readonly token?: unknown;
  readonly access?: unknown;
  readonly limits?: AccessReviewLimits;
}

/** Responds to reviews with these statuses; never, if `undefined`. */
function setup({ token = good, access = { allowed: true }, limits }: Setup = {}) {
  const clock = new ManualClock();
  const requested: RawRequest[] = [];
  const responses: { token: unknown; access: unknown } = { token, access };
  const review = createAccessReview({
    client: {
      async request(request) {
        requested.push(request);
        const status = request.path.endsWith("tokenreviews") ? responses.token : responses.access;
        if (status instanceof Error) throw status;
        if (status === "never") return new Promise(() => undefined);
        return { status };
      },
    },
    clock,
    path: "/metrics",
    verb: "get",
    ...(limits === undefined ? {} : { limits }),
  });
  const reviews = () => requested.splice(0).map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
  return { clock, responses, requested, reviews, check: (text = "t") => review.check(text, SIGNAL) };
}

test("the API server reviews the token, then the access of its user", async () => {
  const { check, requested } = setup();
  expect(await check("secret")).toBe("allowed");
  expect(requested).toMatchObject([
    {
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/tokenreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "secret" } },
      timeoutMs: 10_000,
    },
    {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: {
        kind: "SubjectAccessReview",
        spec: {
          user: "prometheus",
          uid: "u1",
          groups: ["monitoring"],
          extra: { "example.com/x": ["y"] },
          nonResourceAttributes: { path: "/metrics", verb: "get" },
        },
      },
      timeoutMs: 10_000,
    },
  ]);
});

test("the user of a token is cached for one minute, a permission for five", async () => {
  const { check, clock, reviews } = setup();
  await check();
  expect(reviews()).toEqual(["tokenreviews", "subjectaccessreviews"]);
  await clock.advance(59_999);
  await check();
  expect(reviews()).toEqual([]);
  await clock.advance(1);
  await check();
  expect(reviews()).toEqual(["tokenreviews"]);
  await clock.advance(240_000);
  await check();
  expect(reviews()).toEqual(["tokenreviews", "subjectaccessreviews"]);
});

test("a denial is cached for half a minute", async () => {
  const { check, clock, reviews, responses } = setup({ access: { allowed: false, evaluationError: "partly" } });
  expect(await check()).toBe("denied");
  responses.access = { allowed: true };
  await clock.advance(29_999);
  expect(await check()).toBe("denied");
  reviews();
  await clock.advance(1);
  expect(await check()).toBe("allowed");
  expect(reviews()).toEqual(["subjectaccessreviews"]);
});

test("an unknown token causes no SubjectAccessReview", async () => {
  const { check, clock, reviews, responses } = setup({ token: { error: "invalid bearer token" } });
  expect(await check()).toBe("unauthenticated");
  expect(await check()).toBe("unauthenticated");
  expect(reviews()).toEqual(["tokenreviews"]);
  responses.token = good;
  await clock.advance(60_000);
  expect(await check()).toBe("allowed");
});

test("two tokens of one user need one SubjectAccessReview; two users need two", async () => {
  const { check, reviews, responses } = setup();
  await check("a");
  await check("b");
  expect(reviews()).toEqual(["tokenreviews", "subjectaccessreviews", "tokenreviews"]);
  responses.token = { authenticated: true, user: { ...USER, groups: [] } };
  responses.access = { allowed: false };
  expect(await check("c")).toBe("denied");
  expect(await check("a")).toBe("allowed");
});

test.each([
  { name: "the TokenReview fails", token: new Error("refused") },
  { name: "the SubjectAccessReview fails", access: new Error("refused") },
  { name: "a response without a status", token: "nonsense" },
  { name: "a valid token without a user", token: { authenticated: true } },
])("$name is a failure, and is not remembered", async ({ name: _, ...response }) => {
  const { check, responses } = setup(response);
  await expect(check()).rejects.toThrow();
  Object.assign(responses, { token: good, access: { allowed: true } });
  expect(await check()).toBe("allowed");
});

test("concurrent requests with one token share a review; too many different tokens are rejected", async () => {
  const { check, reviews } = setup({ token: "never", limits: { remembered: 8, inFlight: 2 } });
  const waiting = [check("a"), check("a"), check("b")];
  await expect(check("c")).rejects.toThrow("already reviewing 2 tokens");
  expect(reviews()).toEqual(["tokenreviews", "tokenreviews"]);
  expect(waiting).toHaveLength(3);
});

test("random tokens do not evict valid ones", async () => {
  const { check, reviews, responses } = setup({ limits: { remembered: 8, inFlight: 2 } });
  await check("good");
  responses.token = { authenticated: false };
  for (let i = 0; i < 100; i++) expect(await check(`bad ${i}`)).toBe("unauthenticated");
  reviews();
  expect(await check("good")).toBe("allowed");
  expect(reviews()).toEqual([]);
});
