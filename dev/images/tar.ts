// Writes tar archives (ustar) that depend on their entries alone: sorted by name, one time for all, owner root unless given. It
// knows nothing of images.
const BLOCK = 512;

export interface FileEntry {
  readonly type: "file";
  readonly path: string;
  readonly content: Buffer;
  readonly mode?: number;
}

export type TarEntry =
  | FileEntry
  | {
      readonly type: "folder";
      readonly path: string;
      readonly mode?: number;
      readonly uid?: number;
      readonly gid?: number;
    }
  | { readonly type: "link"; readonly path: string; readonly target: string };

const TYPE_FLAGS = { file: "0", link: "2", folder: "5" } as const satisfies Record<TarEntry["type"], string>;
const MODES = { file: 0o644, link: 0o777, folder: 0o755 } as const satisfies Record<TarEntry["type"], number>;

/** Parents that are not among the entries are made. `modifiedSeconds` is the time of every entry. */
export function writeTar(entries: readonly TarEntry[], modifiedSeconds: number): Buffer {
  const all = withParents(entries).sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const parts: Buffer[] = [];
  for (const [index, entry] of all.entries()) {
    if (all[index - 1]?.path === entry.path) throw new Error(`${entry.path} is in the archive twice`);
    parts.push(header(entry, modifiedSeconds));
    if (entry.type === "file") parts.push(entry.content, padding(entry.content.length));
  }
  // Two empty blocks end an archive.
  parts.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(parts);
}

function withParents(entries: readonly TarEntry[]): TarEntry[] {
  const known = new Set(entries.map(({ path }) => path));
  const parents: TarEntry[] = [];
  for (const { path } of entries) {
    const steps = path.split("/");
    for (let depth = 1; depth < steps.length; depth += 1) {
      const parent = steps.slice(0, depth).join("/");
      if (known.has(parent)) continue;
      known.add(parent);
      parents.push({ type: "folder", path: parent });
    }
  }
  return [...entries, ...parents];
}

function header(entry: TarEntry, modifiedSeconds: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const { name, prefix } = splitPath(entry.type === "folder" ? `${entry.path}/` : entry.path);
  const { uid = 0, gid = 0 } = entry.type === "folder" ? entry : {};
  const mode = entry.type === "link" ? MODES.link : (entry.mode ?? MODES[entry.type]);
  block.write(name, 0, 100);
  octal(block, mode, 100, 8);
  octal(block, uid, 108, 8);
  octal(block, gid, 116, 8);
  octal(block, entry.type === "file" ? entry.content.length : 0, 124, 12);
  octal(block, modifiedSeconds, 136, 12);
  block.write(TYPE_FLAGS[entry.type], 156, 1);
  if (entry.type === "link") {
    if (Buffer.byteLength(entry.target) > 100) throw new Error(`the target of ${entry.path} is too long for tar`);
    block.write(entry.target, 157, 100);
  }
  block.write("ustar\0", 257, 6);
  block.write("00", 263, 2);
  octal(block, 0, 329, 8);
  octal(block, 0, 337, 8);
  block.write(prefix, 345, 155);
  // The sum is taken with its own field full of blanks.
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, 8);
  return block;
}

/** A long path is split at a slash into a name of at most 100 bytes and a prefix of at most 155. */
function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: "" };
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== "" && Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { name, prefix };
  }
  throw new Error(`${path} is too long for tar`);
}

function octal(block: Buffer, value: number, offset: number, length: number): void {
  const digits = value.toString(8).padStart(length - 1, "0");
  if (digits.length > length - 1) throw new Error(`${value} does not fit a tar header`);
  block.write(`${digits}\0`, offset, length);
}

const padding = (length: number): Buffer => Buffer.alloc((BLOCK - (length % BLOCK)) % BLOCK);
