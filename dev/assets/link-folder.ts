// A folder with links to a set of programs, for tools that expect all of them in one folder.
import { createHash, randomBytes } from "node:crypto";
import { mkdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";

/** Creates the folder for this set, or updates an existing one; returns its path. */
export async function linkAssets(root: string, paths: ReadonlyMap<string, string>): Promise<string> {
  const entries = [...paths].sort(([one], [other]) => (one < other ? -1 : 1));
  const digest = createHash("sha256").update(JSON.stringify(entries)).digest("hex").slice(0, 12);
  const folder = join(root, "sets", digest);
  await mkdir(folder, { recursive: true });
  for (const [name, path] of entries) {
    // Renamed into place: a concurrent reader finds the old link or the new one.
    const draft = join(folder, `.${name}-${randomBytes(4).toString("hex")}`);
    await symlink(path, draft);
    await rename(draft, join(folder, name));
  }
  return folder;
}
