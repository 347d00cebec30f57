import { describe, expect, test } from "vitest";
import { COMMANDS, GROUPS } from "../commands/command-table.ts";
import { helpText } from "../commands/help.ts";
import { PLAIN } from "../terminal/style.ts";
import { parseCommandLine } from "./command-line.ts";
import { UsageError } from "./exit-codes.ts";

const parse = (line: string) => parseCommandLine(COMMANDS, GROUPS, line === "" ? [] : line.split(" "));
const run = (line: string) => {
  const parsed = parse(line);
  if (parsed.type !== "run") throw new Error(`${line} is ${parsed.type}`);
  return parsed;
};

describe("kubectl's flag syntax", () => {
  test.each([
    "engine list -n team -o json",
    "engine list -nteam -ojson",
    "engine list -n=team -o=json",
    "engine list --namespace team --output json",
    "engine list --namespace=team --output=json",
    "-n team engine list -o json",
    "engine -n team list -o json",
    "engine list -o yaml -n team -o json",
  ])("%s", (line) => {
    const { command, flags } = run(line);
    expect(command.words).toEqual(["engine", "list"]);
    expect([flags.text("namespace"), flags.text("output")]).toEqual(["team", "json"]);
  });

  test("switches", () => {
    expect(run("status -A").flags.on("all-namespaces")).toBe(true);
    expect(run("status --watch=false").flags.on("watch")).toBe(false);
    expect(run("engine delete x --wait=false").flags.on("wait")).toBe(false);
    expect(run("engine list --debug").flags.on("print-commands")).toBe(true);
  });

  test("durations and numbers", () => {
    expect(run("engine scale x --replicas 3 --timeout 1m30s").flags.durationMs("timeout")).toBe(90_000);
    expect(run("engine list --request-timeout 5").flags.durationMs("request-timeout")).toBe(5_000);
    expect(run("engine scale x --replicas 3").flags.integer("replicas")).toBe(3);
    expect(run("engine start x").flags.integer("replicas")).toBeUndefined();
  });

  test("arguments may be anywhere, and everything after -- is one", () => {
    expect(run("engine query -n team adhoc SELECT").args).toEqual(["adhoc", "SELECT"]);
    expect(run("engine query adhoc -- --x").args).toEqual(["adhoc", "--x"]);
  });
});

test("aliases mean the command", () => {
  expect(run("stop adhoc").command.words).toEqual(["engine", "stop"]);
  expect(run("report").command.words).toEqual(["support-bundle"]);
});

describe("help and version", () => {
  test.each([
    ["", []],
    ["engine", ["engine"]],
    ["--help", []],
    ["help engine stop", ["engine", "stop"]],
    ["engine stop --help", ["engine", "stop"]],
    ["engine stop adhoc -h", ["engine", "stop"]],
  ])("%s", (line, words) => expect(parse(line)).toEqual({ type: "help", words }));

  test("--version", () => expect(parse("--version")).toEqual({ type: "version" }));

  test.each([[], ["engine"], ...COMMANDS.map(({ words }) => words)])(
    "fits 40 columns but for commands: %s %s",
    (...words) => {
      const given = words.filter((word) => typeof word === "string");
      const text = helpText({ commands: COMMANDS, groups: GROUPS, words: given, style: PLAIN, width: 40 });
      expect(text.split("\n").filter((line) => line.length > 40 && !/kubectl|^ *#|^ *--\S+ \S+$/.test(line))).toEqual(
        [],
      );
    },
  );

  test.each(COMMANDS.map((command) => [command.words.join(" "), command] as const))(
    "%s explains itself, and fits 120 columns",
    (_, command) => {
      const text = helpText({ commands: COMMANDS, groups: GROUPS, words: command.words, style: PLAIN });
      expect(text).toContain(`kubectl firebolt ${command.words.join(" ")}`);
      for (const { name } of command.flags ?? []) expect(text).toContain(`--${name}`);
      expect(text.split("\n").filter((line) => line.length > 135)).toEqual([]);
    },
  );
});

describe("a mistake is rejected with a correction", () => {
  test.each([
    ["restart", 'unknown command "restart" (did you mean "engine restart"?): see kubectl firebolt --help'],
    ["dance", 'unknown command "dance": see kubectl firebolt --help'],
    ["enigne", 'unknown command "enigne" (did you mean "engine"?): see kubectl firebolt --help'],
    ["engine lst", 'unknown command "engine lst" (did you mean "list"?): see kubectl firebolt engine --help'],
    [
      "engine list --outptu json",
      'unknown flag --outptu (did you mean "--output"?): see kubectl firebolt engine list --help',
    ],
    ["engine list -x", "unknown flag -x: see kubectl firebolt engine list --help"],
    ["--outptu engine list", "unknown flag --outptu: see kubectl firebolt --help"],
    ["engine list -o xml", "--output=xml: must be one of table, wide, json, yaml, name"],
    ["engine list -n", "--namespace needs a value: namespace; default: the context's"],
    ["engine query x", "engine query needs a statement: kubectl firebolt engine query ENGINE STATEMENT"],
    ["engine stop", "kubectl firebolt engine stop needs an engine: kubectl firebolt engine stop ENGINE"],
    ["engine delete .", 'kubectl firebolt engine delete: "." is not a valid engine'],
    ["engine stop a b", 'unexpected argument "b": kubectl firebolt engine stop takes one argument'],
    ["engine scale a --replicas many", "--replicas=many: must be a whole number"],
    ["engine scale a --timeout soon", "--timeout=soon: must be a duration such as 30s, 5m or 1h30m"],
    ["status --watch=maybe", "--watch=maybe: must be true or false"],
  ])("%s", (line, message) => {
    expect(() => parse(line)).toThrow(UsageError);
    expect(() => parse(line)).toThrow(message);
  });
});

test.each(COMMANDS.filter(({ arguments: wanted = [] }) => wanted.length > 0))(
  "an unset variable of a script names nothing: $words",
  ({ words, arguments: wanted = [] }) => {
    const argv = [...words, ...wanted.map(() => "")];
    expect(() => parseCommandLine(COMMANDS, GROUPS, argv)).toThrow(`"" is not a valid ${wanted[0]?.name}`);
  },
);

test("no command has two flags of one name or letter", () => {
  for (const { words, flags = [] } of COMMANDS) {
    const names = flags.flatMap(({ name, short }) => (short === undefined ? [name] : [name, `-${short}`]));
    expect(new Set(names).size, words.join(" ")).toBe(names.length);
  }
});
