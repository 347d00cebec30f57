// A folder with the programs for another terminal: kubectl and Helm as pinned, and `kubectl firebolt` as just built. It
// is prepended to the PATH; nothing is installed.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolveAssets } from "../assets/resolver.ts";

const PLUGIN = join(import.meta.dirname, "../../dist/kubectl-firebolt.mjs");

/** Returns the folder. */
export async function provideTools(folder: string, progress: (line: string) => void): Promise<string> {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const [name, path] of await resolveAssets(["kubectl", "helm"], { progress })) symlinkSync(path, join(bin, name));
  // Runs on the project's Node: the one on the path may be too old.
  const plugin = join(bin, "kubectl-firebolt");
  writeFileSync(plugin, `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(PLUGIN)} "$@"\n`);
  chmodSync(plugin, 0o755);
  return bin;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
