import { expect, test } from "vitest";
import { HELP, KNOWN_FLAGS, parseArguments } from "./arguments.ts";

const start = { type: "start", check: false, install: true, choice: { type: "automatic" } } as const;

test.each([
  { args: [], want: start },
  { args: ["--check"], want: { ...start, check: true } },
  { args: ["--no-install"], want: { ...start, install: false } },
  { args: ["--simulated"], want: { ...start, choice: { type: "simulated" } } },
  {
    args: ["--context", "kind-a", "--image-engine=r/e:1", "--check"],
    want: {
      ...start,
      check: true,
      choice: {
        type: "existing",
        context: "kind-a",
        namespace: "analytics",
        images: [{ name: "engine", reference: "r/e:1" }],
      },
    },
  },
  { args: ["--help", "--check"], want: { type: "help" } },
  { args: ["-h"], want: { type: "help" } },
])("$args", ({ args, want }) => expect(parseArguments(args)).toEqual(want));

test.each([
  { args: ["--fly"], want: "Unknown option '--fly'" },
  { args: ["now"], want: "Unexpected argument 'now'" },
  { args: ["--context"], want: "Option '--context <value>' argument missing" },
  { args: ["--context="], want: "--context needs the name of a context" },
  { args: ["--check=yes"], want: "Option '--check' does not take an argument" },
  { args: ["--context", "a", "--simulated"], want: "--context and --simulated exclude each other" },
  { args: ["--image-engine", "a:1"], want: "--image-engine can be used with --context only" },
  { args: ["--namespace", "a", "--simulated"], want: "--namespace can be used with --context only" },
])("$args is rejected in one line", ({ args, want }) => {
  expect(parseArguments(args)).toEqual({ type: "refused", why: want });
});

test("the help names every flag", () => {
  for (const flag of KNOWN_FLAGS) expect(HELP).toContain(`--${flag}`);
});
