// The environment of the commands in the documentation: a folder with the repository's charts and examples, and kubectl, helm, the plugin and
// curl on the PATH, configured for one cluster. Starts nothing.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveAssets } from "../../../dev/assets/resolver.ts";
import { buildProgram } from "../../harness/programs/operator-process.ts";
import { PLUGIN } from "../../harness/programs/plugin-process.ts";
import { ROOT } from "./pages.ts";

export interface DocHarness extends Disposable {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export async function openDocHarness(kubeconfig: string): Promise<DocHarness> {
  const [programs] = await Promise.all([resolveAssets(["kubectl", "helm"]), buildProgram()]);
  const home = mkdtempSync(join(tmpdir(), "docs-"));
  const [folder, bin] = [join(home, "work"), join(home, "bin")];
  for (const made of [folder, bin]) mkdirSync(made);
  for (const part of ["charts", "examples"]) symlinkSync(join(ROOT, part), join(folder, part));
  for (const name of ["kubectl", "helm"] as const) symlinkSync(programs.get(name) ?? "", join(bin, name));
  const plugin = join(bin, "kubectl-firebolt");
  writeFileSync(plugin, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(PLUGIN)} "$@"\n`);
  chmodSync(plugin, 0o755);
  return {
    folder,
    // A separate home, so that the user's settings have no effect.
    env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: home, KUBECONFIG: kubeconfig, LANG: "C.UTF-8", TERM: "dumb" },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
