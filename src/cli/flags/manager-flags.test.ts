import { describe, expect, test } from "vitest";
import { describeFlags, parseFlags, UsageError } from "./flag-table.ts";
import { listenAddress, MANAGER_FLAGS, namespaceList } from "./manager-flags.ts";

const parse = (...args: string[]) => parseFlags(MANAGER_FLAGS, args);

describe("Go flag syntax", () => {
  test.each([
    { args: ["--namespaces=a,b"], name: "namespaces", want: "a,b" },
    { args: ["--namespaces", "a,b"], name: "namespaces", want: "a,b" },
    { args: ["-namespaces=a"], name: "namespaces", want: "a" },
    { args: ["--leader-elect"], name: "leader-elect", want: true },
    { args: ["--leader-elect=f"], name: "leader-elect", want: false },
    { args: ["--leader-elect=1"], name: "leader-elect", want: true },
    { args: ["--shutdown-timeout=1m30s"], name: "shutdown-timeout", want: 90_000 },
    { args: ["--kube-api-qps=2.5"], name: "kube-api-qps", want: 2.5 },
    { args: ["--zap-encoder=json", "--zap-encoder=console"], name: "zap-encoder", want: "console" },
    { args: ["--watch-label-selector=a=b"], name: "watch-label-selector", want: "a=b" },
  ] as const)("$args", ({ args, name, want }) => {
    expect(parse(...args)[name]).toBe(want);
  });

  test("defaults are the documented ones", () => {
    expect(parse()).toMatchObject({
      "leader-election-id": "c662f7f5.firebolt.io",
      "leader-election-lease-duration": 15_000,
      "health-probe-bind-address": ":8081",
      "metrics-bind-address": "0",
      "shutdown-timeout": 8000,
    });
  });
});

describe("a bad command line names the flag, the value and the next step", () => {
  test.each([
    { args: ["--nope"], want: /unknown flag --nope/ },
    { args: ["--namespace=x"], want: /did you mean --namespaces/ },
    { args: ["stray"], want: /unexpected argument "stray"/ },
    { args: ["--namespaces"], want: /--namespaces needs a value/ },
    { args: ["--leader-elect=maybe"], want: /--leader-elect=maybe: must be true or false/ },
    { args: ["--shutdown-timeout=10"], want: /--shutdown-timeout=10: must be a duration/ },
    { args: ["--shutdown-timeout=-1s"], want: /must not be negative/ },
    { args: ["--kube-api-burst=1.5"], want: /must be a whole number/ },
    { args: ["--metrics-bind-address=8080"], want: /--metrics-bind-address=8080: must be host:port/ },
    { args: ["--zap-log-level=loud"], want: /must be debug, info, error, panic/ },
    { args: ["--zap-time-encoding=sundial"], want: /must be one of epoch, millis/ },
  ])("$args", ({ args, want }) => {
    expect(() => parse(...args)).toThrow(want);
    expect(() => parse(...args)).toThrow(UsageError);
  });
});

test("help lists every flag with its default", () => {
  const text = describeFlags(MANAGER_FLAGS);
  for (const [name, spec] of Object.entries(MANAGER_FLAGS)) {
    expect(text).toContain(`--${name}`);
    if (spec.default !== "") expect(text).toContain(`(default ${spec.default})`);
  }
});

test.each([
  { text: "", want: [] },
  { text: " a , b,,a ", want: ["a", "b"] },
])("namespaces of $text", ({ text, want }) => {
  expect(namespaceList(text)).toEqual(want);
});

test.each([
  { text: "0", want: undefined },
  { text: ":8081", want: { port: 8081 } },
  { text: "127.0.0.1:9", want: { host: "127.0.0.1", port: 9 } },
  { text: "[::1]:9", want: { host: "::1", port: 9 } },
])("listen on $text", ({ text, want }) => {
  expect(listenAddress(text)).toEqual(want);
});
