// The command line that the chart gives the manager, against the one that the program knows.
import { spawnSync } from "node:child_process";
import { valueAt } from "@firebolt-operator/kube/testing";
import { PROGRAM } from "../programs/operator-process.ts";
import type { RenderedObject } from "./helm.ts";

/** The flags that `--help` of the bundled program lists. */
export function knownFlags(): ReadonlySet<string> {
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, "manager", "--help"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`--help of the program ended with ${status}`);
  return new Set([...stdout.matchAll(/^\s+--([a-z0-9-]+)/gm)].map(([, name = ""]) => name));
}

export const flagName = (arg: string): string => arg.replace(/^--?/, "").replace(/=.*$/s, "");

/** The arguments of the manager's container. */
export function managerArgs(objects: readonly RenderedObject[]): readonly string[] {
  const deployment = objects.find(({ kind }) => kind === "Deployment");
  const args = valueAt(deployment, ["spec", "template", "spec", "containers", 0, "args"]);
  if (!Array.isArray(args)) throw new Error("the manager has no arguments");
  return args.map(String);
}
