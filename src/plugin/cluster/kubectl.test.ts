import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FlagValues } from "../command-line/flags.ts";
import { GLOBAL_FLAGS } from "../commands/global-flags.ts";
import { commandsText, kubectlArgs, quoted } from "./kubectl.ts";

test("a shell reads every word back as it was", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ minLength: 1 }).filter((word) => !word.includes("\0")),
        { minLength: 1, maxLength: 5 },
      ),
      (words) => {
        const out = execFileSync("sh", ["-c", `printf '%s\\0' ${words.map(quoted).join(" ")}`], { encoding: "utf8" });
        expect(out.split("\0").slice(0, -1)).toEqual(words);
      },
    ),
    { numRuns: 25 },
  );
});

test("global flags, verb, namespace, rest", () => {
  const flags = new FlagValues(GLOBAL_FLAGS);
  for (const flag of GLOBAL_FLAGS)
    if (["namespace", "context", "kubeconfig"].includes(flag.name)) flags.set(flag, "x y");
  expect(kubectlArgs(flags, "get", "pods")).toEqual(["--kubeconfig=x y", "--context=x y", "get", "-n", "x y", "pods"]);
  expect(kubectlArgs(new FlagValues(GLOBAL_FLAGS), "get", "pods")).toEqual(["get", "pods"]);
});

test("commands are a script, manifests quoted", () => {
  const text = commandsText([
    { comment: "one", args: ["apply", "-f", "-"], stdin: "a: $HOME\n" },
    { comment: "two", args: ["get", "it's"] },
  ]);
  expect(text).toBe("# one\nkubectl apply -f - <<'EOF'\na: $HOME\nEOF\n\n# two\nkubectl get 'it'\\''s'\n");
});
