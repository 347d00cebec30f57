// Paging: every object once, and an expired list is restarted, not stitched together.
import { expect, test } from "vitest";
import { KubeApiError, KubeTimeoutError } from "../core/errors.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { ListOptions } from "./client.ts";
import { listAllPages } from "./pages.ts";

type Page = (
  options: ListOptions,
) => Promise<{ metadata: { continue?: string; resourceVersion: string }; items: string[] }>;

const expired = new KubeApiError("GET /x", 410, { reason: "Expired" });

test("follows continue tokens, and sends the version only with the first page", async () => {
  const requested: ListOptions[] = [];
  const page: Page = async (options) => {
    requested.push(options);
    return options.continue === undefined
      ? { metadata: { continue: "t1", resourceVersion: "7" }, items: ["a", "b"] }
      : { metadata: { resourceVersion: "7" }, items: ["c"] };
  };
  const options = { resourceVersion: "5", resourceVersionMatch: "NotOlderThan", labelSelector: "x=y" } as const;
  const list = await listAllPages(page, options, new ManualClock());
  expect(list).toEqual({ metadata: { resourceVersion: "7" }, items: ["a", "b", "c"] });
  expect(requested).toEqual([
    { ...options, limit: 500, timeoutMs: 120_000 },
    { labelSelector: "x=y", continue: "t1", limit: 500, timeoutMs: 120_000 },
  ]);
});

test("an expired token restarts once, without the pages of the first attempt", async () => {
  let round = 0;
  const page: Page = async (options) => {
    if (options.continue === undefined) {
      round += 1;
      return { metadata: { continue: `r${round}`, resourceVersion: String(round) }, items: [`first${round}`] };
    }
    if (options.continue === "r1") throw expired;
    return { metadata: { resourceVersion: String(round) }, items: ["second"] };
  };
  const list = await listAllPages(page, {}, new ManualClock());
  expect(list).toEqual({ metadata: { resourceVersion: "2" }, items: ["first2", "second"] });
});

test("a second expiry is an error", async () => {
  const page: Page = async (options) => {
    if (options.continue !== undefined) throw expired;
    return { metadata: { continue: "t", resourceVersion: "1" }, items: [] };
  };
  await expect(listAllPages(page, {}, new ManualClock())).rejects.toBe(expired);
});

test("the deadline is for all pages together", async () => {
  const clock = new ManualClock();
  const left: (number | undefined)[] = [];
  const page: Page = async (options) => {
    left.push(options.timeoutMs);
    if (left.length === 3) throw new KubeTimeoutError("late");
    await clock.advance(400);
    return { metadata: { continue: "more", resourceVersion: "1" }, items: [] };
  };
  await expect(listAllPages(page, { timeoutMs: 1000 }, clock)).rejects.toThrow("late");
  expect(left).toEqual([1000, 600, 200]);
});
