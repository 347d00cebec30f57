import { execFileSync, type StdioOptions } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { START_SCRIPT } from "./start-script.ts";

/** With input from a socket bash takes itself for a remote shell and reads the user's settings. */
const NO_INPUT = ["ignore", "pipe", "pipe"] as const satisfies StdioOptions;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "start-script-"));
  for (const folder of ["opt/firebolt", "run/firebolt", "secrets/tls/engine"])
    mkdirSync(join(root, folder), { recursive: true });
  // A fake engine: prints its process id and its arguments.
  writeFileSync(join(root, "opt/firebolt/firebolt"), '#!/bin/bash\necho "$$ $*"\n');
  chmodSync(join(root, "opt/firebolt/firebolt"), 0o755);
});
afterEach(() => rmSync(root, { recursive: true }));

/**
 * Runs the script with its absolute paths moved below the test's own folder; `$$` in front is the shell's own process.
 */
function run(env: Record<string, string>): string {
  const script = START_SCRIPT.replaceAll(/(?<=[ =])\/(opt|run|secrets)\//g, `${root}/$1/`);
  return execFileSync("/bin/bash", ["-c", `echo $$\n${script}`], { env, encoding: "utf8", stdio: NO_INPUT });
}

test("the engine takes the place of the shell, so that it receives SIGTERM", () => {
  const [shell, engine] = run({ POD_INDEX: "2", HOSTNAME: "e-g0-9" }).trim().split("\n");
  expect(engine).toBe(`${shell} server --node 2 --data-dir /var/lib/firebolt`);
});

test.each([{ HOSTNAME: "my-engine-g12-3" }, { HOSTNAME: "my-engine-g12-3", POD_INDEX: "" }])(
  "without an index the pod's name has it",
  (env) => {
    expect(run(env)).toContain("--node 3 ");
  },
);

test("without index and name it fails instead of guessing", () => {
  expect(() =>
    execFileSync("/bin/bash", ["-c", `unset HOSTNAME\n${START_SCRIPT}`], { env: {}, stdio: NO_INPUT }),
  ).toThrow(/HOSTNAME/);
});

test("certificate and authority end up in one file, in this order", () => {
  const tls = join(root, "secrets/tls/engine");
  writeFileSync(join(tls, "tls.crt"), "leaf");
  run({ POD_INDEX: "0" });
  expect(() => readFileSync(join(root, "run/firebolt/engine-tls-bundle.crt"))).toThrow();
  writeFileSync(join(tls, "ca.crt"), "authority\n");
  run({ POD_INDEX: "0" });
  expect(readFileSync(join(root, "run/firebolt/engine-tls-bundle.crt"), "utf8")).toBe("leaf\nauthority\n");
});

test("Kubernetes finds no variable to replace in it", () => {
  expect(START_SCRIPT).not.toContain("$(");
});
