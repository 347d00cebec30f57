import { expect, test } from "vitest";
import type { Pod } from "./children.ts";
import { checkDrain } from "./drain-check.ts";
import type { ScrapeAnswer } from "./world.ts";

const pod = (name: string, phase = "Running"): Pod => ({ metadata: { name }, status: { phase } });
const page = (running: number | string, suspended: number | string = 0): ScrapeAnswer => ({
  status: 200,
  body: `firebolt_running_queries ${running}\nfirebolt_suspended_queries ${suspended}\n`,
});

async function check(
  pods: readonly Pod[],
  answers: Record<string, ScrapeAnswer | Error>,
  signal = new AbortController().signal,
) {
  const asked: string[] = [];
  const scrape = async ({ metadata }: Pod) => {
    const name = metadata?.name ?? "";
    asked.push(name);
    const answer = answers[name] ?? new Error("not expected");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const probe = await checkDrain({ scrape, signal }, pods, "ApiserverProxy");
  return { probe, asked };
}

test("§1.6: drained when every Running pod says zero for both gauges", async () => {
  const { probe, asked } = await check([pod("a"), pod("b")], { a: page(0), b: page(0) });
  expect(probe).toEqual({ type: "drained" });
  expect(asked).toEqual(["a", "b"]);
});

test("no pods: drained (S8)", async () => {
  expect((await check([], {})).probe).toEqual({ type: "drained" });
});

test.each(["Pending", "Failed", "Succeeded", "Unknown"])("S17: a %s pod is skipped", async (phase) => {
  const { probe, asked } = await check([pod("a", phase), pod("b")], { b: page(0) });
  expect(probe).toEqual({ type: "drained" });
  expect(asked).toEqual(["b"]);
});

test("S13, I20: one busy pod holds the generation and ends the examination", async () => {
  const { probe, asked } = await check([pod("a"), pod("b"), pod("c")], { a: page(0), b: page(2, 1) });
  expect(probe).toEqual({ type: "busy", pod: "b", queries: 3 });
  expect(asked).toEqual(["a", "b"]);
});

test("S14: suspended queries count", async () => {
  expect((await check([pod("a")], { a: page(0, 1) })).probe).toMatchObject({ type: "busy", queries: 1 });
});

test.each([
  ["S15: unreachable", new Error("connection\nrefused"), "connection refused"],
  ["a refusal", { status: 403, body: "" }, "status 403"],
  ["a redirect", { status: 302, body: "" }, "status 302"],
  [
    "S16: labels only",
    { status: 200, body: 'firebolt_running_queries{a="b"} 0\nfirebolt_suspended_queries 0' },
    "firebolt_running_queries",
  ],
  ["not numbers", page("many", "few"), "firebolt_running_queries and firebolt_suspended_queries"],
  ["too long", new Error("x".repeat(10_000)), "xxx..."],
] as const)("I21: %s is never zero", async (_, answer, cause) => {
  const { probe } = await check([pod("a")], { a: answer });
  expect(probe).toMatchObject({ type: "failing", pod: "a" });
  expect(probe.type === "failing" && probe.cause).toContain(cause);
  expect(probe.type === "failing" && probe.cause.length).toBeLessThanOrEqual(300);
});

test("a probe cut by the end of the process says nothing about the pod", async () => {
  const stopped = AbortSignal.abort(new Error("stopping"));
  await expect(check([pod("a")], { a: new Error("stopping") }, stopped)).rejects.toThrow("stopping");
});
