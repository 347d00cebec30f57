import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseCommandLine } from "./command-line/command-line.ts";
import { COMMANDS, GROUPS } from "./commands/command-table.ts";
import { ownCommand, withClusterArgs } from "./own-command.ts";

test("a command has the namespace and the cluster of the user", () => {
  const clusterArgs = ["--kubeconfig=/my files/config", "--context=prod"];
  const line = ownCommand({ namespace: "analytics", clusterArgs }, ["engine", "query", "adhoc", "SELECT 'x'"]);
  expect(line).toBe(
    "kubectl firebolt engine query adhoc 'SELECT '\\''x'\\''' -n analytics '--kubeconfig=/my files/config' --context=prod",
  );
  expect(ownCommand({ namespace: undefined }, ["install"])).toBe("kubectl firebolt install");
});

describe("next steps of the operator", () => {
  test("every kubectl command acts on the cluster of the command line", () => {
    expect(
      withClusterArgs("see: kubectl describe pod p -n ns; the logs: kubectl logs p -n ns", ["--context=prod"]),
    ).toBe("see: kubectl --context=prod describe pod p -n ns; the logs: kubectl --context=prod logs p -n ns");
  });

  test("complete commands are unchanged", () => {
    const complete = "kubectl firebolt engine status e -n ns --context=prod, or kubectl --context=prod get pods";
    expect(withClusterArgs(complete, ["--context=prod"])).toBe(complete);
    expect(withClusterArgs("kubectl get pods", [])).toBe("kubectl get pods");
    expect(withClusterArgs("kubectl get pods", ["--context", "a$&b$'c"])).toMatch(
      /^kubectl --context \S*a\$&b\$\S*c\S* get pods$/,
    );
    expect(withClusterArgs(undefined, ["--context=prod"])).toBeUndefined();
  });
});

describe("every command in a message comes from ownCommand", () => {
  /** Help and usage are about a command as such, and examples stand for themselves. */
  const ABOUT_COMMANDS =
    /^(?:commands\/(?:help|[a-z-]*-commands)|command-line\/(?:command-line|completion)|own-command)\.ts$/;
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !ABOUT_COMMANDS.test(file),
  );
  const sourceOf = (file: string): string =>
    readFileSync(join(import.meta.dirname, file), "utf8").replace(/^\s*(?:\/\/|\/?\*).*$/gm, "");

  test.each(files)("%s", (file) => {
    expect(sourceOf(file)).not.toContain("kubectl firebolt ");
  });

  const calls = files.flatMap((file) =>
    [...sourceOf(file).matchAll(/\bownCommand\([^[]*\[([^\]]*)\]/g)].map(([, words = ""]) => ({
      file,
      words: words.split(",").flatMap((word) => (word.trim() === "" ? [] : [literal(word.trim())])),
    })),
  );

  test("the commands are found", () => expect(calls.length).toBeGreaterThan(8));

  test.each(calls)("$words ($file) is understood", ({ words }) => {
    expect(parseCommandLine(COMMANDS, GROUPS, words).type).toBe("run");
  });
});

/** A word as it is written, or something in place of an expression. */
function literal(expression: string): string {
  const text = /^"(.*)"$/.exec(expression)?.[1];
  return text ?? (expression.startsWith("String(") ? "1" : "x");
}
