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

/** Answers reviews with these statuses; `undefined` never answers. */
function setup({ token = good, access = { allowed: true }, limits }: Setup = {}) {
  const clock = new ManualClock();
  const asked: RawRequest[] = [];
  const answers: { token: unknown; access: unknown } = { token, access };
  const review = createAccessReview({
    client: {
      async request(request) {
        asked.push(request);
        const status = request.path.endsWith("tokenreviews") ? answers.token : answers.access;
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
  const reviews = () => asked.splice(0).map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
  return { clock, answers, asked, reviews, check: (text = "t") => review.check(text, SIGNAL) };
}

test("the API server is asked whose the token is, and what that user may", async () => {
  const { check, asked } = setup();
  expect(await check("secret")).toBe("allowed");
  expect(asked).toMatchObject([
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

test("the owner of a token is remembered for a minute, a permission for five", async () => {
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

test("a refusal is remembered for half a minute", async () => {
  const { check, clock, reviews, answers } = setup({ access: { allowed: false, evaluationError: "partly" } });
  expect(await check()).toBe("denied");
  answers.access = { allowed: true };
  await clock.advance(29_999);
  expect(await check()).toBe("denied");
  reviews();
  await clock.advance(1);
  expect(await check()).toBe("allowed");
  expect(reviews()).toEqual(["subjectaccessreviews"]);
});

test("a token that nobody knows never gets as far as a question about rights", async () => {
  const { check, clock, reviews, answers } = setup({ token: { error: "invalid bearer token" } });
  expect(await check()).toBe("unauthenticated");
  expect(await check()).toBe("unauthenticated");
  expect(reviews()).toEqual(["tokenreviews"]);
  answers.token = good;
  await clock.advance(60_000);
  expect(await check()).toBe("allowed");
});

test("two tokens of one user need one question about rights; two users need two", async () => {
  const { check, reviews, answers } = setup();
  await check("a");
  await check("b");
  expect(reviews()).toEqual(["tokenreviews", "subjectaccessreviews", "tokenreviews"]);
  answers.token = { authenticated: true, user: { ...USER, groups: [] } };
  answers.access = { allowed: false };
  expect(await check("c")).toBe("denied");
  expect(await check("a")).toBe("allowed");
});

test.each([
  { name: "no answer to the first question", token: new Error("refused") },
  { name: "no answer to the second", access: new Error("refused") },
  { name: "an answer without a status", token: "nonsense" },
  { name: "a good token of nobody", token: { authenticated: true } },
])("$name is a failure, and is not remembered", async ({ name: _, ...answer }) => {
  const { check, answers } = setup(answer);
  await expect(check()).rejects.toThrow();
  Object.assign(answers, { token: good, access: { allowed: true } });
  expect(await check()).toBe("allowed");
});

test("the same token at the same time is reviewed once; too many different ones are turned away", async () => {
  const { check, reviews } = setup({ token: "never", limits: { remembered: 8, inFlight: 2 } });
  const waiting = [check("a"), check("a"), check("b")];
  await expect(check("c")).rejects.toThrow("2 tokens are being reviewed already");
  expect(reviews()).toEqual(["tokenreviews", "tokenreviews"]);
  expect(waiting).toHaveLength(3);
});

test("tokens tried at random do not push out those that are good", async () => {
  const { check, reviews, answers } = setup({ limits: { remembered: 8, inFlight: 2 } });
  await check("good");
  answers.token = { authenticated: false };
  for (let i = 0; i < 100; i++) expect(await check(`bad ${i}`)).toBe("unauthenticated");
  reviews();
  expect(await check("good")).toBe("allowed");
  expect(reviews()).toEqual([]);
});
