// Version of the sources: the package's version, and the commit if there is a Git history.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface SourceVersion {
  readonly version: string;
  /** The whole commit; `unknown` in a source archive, which has no history. */
  readonly revision: string;
  /** SOURCE_DATE_EPOCH, or the time of the commit. */
  readonly createdSeconds: number;
}

export function readSourceVersion(root: string): SourceVersion {
  const [revision = "unknown", time = "0"] = lastCommit(root) ?? [];
  return { version: readVersion(root), revision, createdSeconds: Number(process.env["SOURCE_DATE_EPOCH"] ?? time) };
}

function lastCommit(root: string): readonly string[] | undefined {
  try {
    const args = ["log", "-1", "--format=%H %ct"];
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      .trim()
      .split(" ");
  } catch {
    return undefined; // A source archive has no history.
  }
}

function readVersion(root: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (typeof manifest !== "object" || manifest === null || !("version" in manifest))
    throw new Error(`${join(root, "package.json")} has no version`);
  return String(manifest.version);
}
