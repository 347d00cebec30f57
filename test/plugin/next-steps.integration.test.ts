// Every command in a message, a next step or an example of the plugin: the plugin's own are accepted by its parser,
// kubectl's by the real kubectl against a real API server. "Not found" for the test's object name is not a failure.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { parseCommandLine } from "../../src/plugin/command-line/command-line.ts";
import { COMMANDS, GROUPS } from "../../src/plugin/commands/command-table.ts";
import { printedCommands } from "./support/printed-commands.ts";

const printed = printedCommands();
const own = printed.filter(({ args }) => args[0] === "firebolt");
const kubectls = printed.filter(({ args }) => args[0] !== "firebolt");
const LIMIT_MS = 60_000;

let controlPlane: ControlPlane;
let kubectl = "";
beforeAll(async () => {
  const binaries = await resolveAssets(["kubectl"]);
  kubectl = binaries.get("kubectl") ?? "";
  controlPlane = await startControlPlane({ components: [], crds: join(import.meta.dirname, "../../config/crd") });
}, 300_000);
afterAll(() => controlPlane?.stop());

test("commands of both kinds are found", () => {
  // Examples alone: commands in messages are built and tested in src/plugin/own-command.test.ts.
  expect(own.length).toBeGreaterThan(5);
  expect(kubectls.length).toBeGreaterThan(15);
});

test.each(own)("$line ($file)", ({ args }) => {
  expect(parseCommandLine(COMMANDS, GROUPS, args.slice(1)).type).toBe("run");
});

describe("kubectl understands", () => {
  const NOT_UNDERSTOOD =
    /unknown (?:command|flag|shorthand)|resource type|must (?:be )?specif|required|accepts|invalid/i;

  test.each(kubectls)("$line ($file)", { timeout: 2 * LIMIT_MS }, async ({ args }) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const all = [...args, `--kubeconfig=${controlPlane.adminKubeconfig}`];
    execFile(kubectl, all, { timeout: LIMIT_MS }, (_, stdout, stderr) => resolve(`${stdout}${stderr}`));
    expect(await promise).not.toMatch(NOT_UNDERSTOOD);
  });
});
