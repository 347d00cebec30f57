import { expect, test } from "vitest";
import { STALLED_REQUEST_BYTES } from "../../gateway/envoy-types.ts";
import { renderWakeAgentContainer } from "../../gateway/wake-container.ts";
import { parseFlags, UsageError } from "./flag-table.ts";
import { memoryLimitBytes, WAKE_AGENT_FLAGS } from "./wake-agent-flags.ts";

test("the defaults are the documented ones", () => {
  expect(parseFlags(WAKE_AGENT_FLAGS, [])).toMatchObject({
    "hold-port": 9902,
    "demand-port": 9903,
    "envoy-admin-url": "",
    "per-hold-bytes": 0,
    "fallback-hold-cap": 256,
    "hold-timeout": 120_000,
    "demand-retention": 600_000,
    "stamp-annotation": false,
  });
});

test.each([
  { mode: "annotation", stamps: true },
  { mode: "demand", stamps: false },
] as const)("the rendered container passes flags that the agent takes: $mode", ({ mode, stamps }) => {
  const input = {
    image: "i",
    imagePullPolicy: "Always",
    seccompProfile: undefined,
    sleepCommand: undefined,
    envoyHasMemoryLimit: true,
  };
  const [subcommand, ...flags] = renderWakeAgentContainer({ ...input, mode }).args ?? [];
  expect(subcommand).toBe("wake-agent");
  expect(parseFlags(WAKE_AGENT_FLAGS, flags)).toMatchObject({
    "stamp-annotation": stamps,
    "per-hold-bytes": STALLED_REQUEST_BYTES,
  });
});

test.each(["--hold-port=70000", "--per-hold-bytes=-1", "--envoy-admin-url=127.0.0.1", "--hold-timeout=5"])(
  "%s is rejected",
  (flag) => {
    expect(() => parseFlags(WAKE_AGENT_FLAGS, [flag])).toThrow(UsageError);
  },
);

test.each([
  ["", undefined, 0],
  ["", "1073741824", 1_073_741_824],
  ["5", "1073741824", 5],
  ["", "1Gi", 0],
  ["nonsense", undefined, 0],
])("a memory limit of %j, and %j in the environment", (flag, environment, want) => {
  expect(memoryLimitBytes(flag, environment)).toBe(want);
});
