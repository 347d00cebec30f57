// Reads zip archives (wheels among them) with what Node has: neither Python nor unzip needs to be there. Checks every file's checksum, and
// rejects names that lead out of the folder that they are unpacked to.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { crc32, inflateRawSync } from "node:zlib";

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 65_535;
const STORED = 0;
const DEFLATED = 8;
/** In this place the value is in an extension that archives over 4 GB have. */
const ELSEWHERE = 0xffffffff;

export interface ZipEntry {
  readonly name: string;
  readonly bytes: number;
  read(): Buffer;
}

export function readZip(archive: Buffer): readonly ZipEntry[] {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  const entries: ZipEntry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > archive.length || archive.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw new Error(`the zip archive is damaged: entry ${index + 1} of ${count} is missing`);
    const nameBytes = archive.readUInt16LE(at + 28);
    entries.push(entryAt(archive, at, nameBytes));
    at += ENTRY_BYTES + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

/** The file of this name; its absence is an error that names the archive. */
export function readZipFile(archive: Buffer, name: string, title: string): Buffer {
  const entry = readZip(archive).find((one) => one.name === name);
  if (entry === undefined) throw new Error(`${title} holds no ${name}`);
  return entry.read();
}

/** Writes the files that `modeOf` gives a mode for below `folder`. */
export async function unpackZip(
  archive: Buffer,
  folder: string,
  modeOf: (name: string) => number | undefined,
): Promise<void> {
  const made = new Set<string>();
  for (const entry of readZip(archive)) {
    const mode = entry.name.endsWith("/") ? undefined : modeOf(entry.name);
    if (mode === undefined) continue;
    if (entry.name.startsWith("/") || entry.name.split("/").includes(".."))
      throw new Error(`the zip archive holds ${entry.name}, which leads out of its folder`);
    const path = join(folder, entry.name);
    if (!made.has(dirname(path))) await mkdir(dirname(path), { recursive: true });
    made.add(dirname(path));
    await writeFile(path, entry.read(), { flag: "wx" });
    await chmod(path, mode);
  }
}

function findEnd(archive: Buffer): number {
  const first = Math.max(0, archive.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = archive.length - END_BYTES; at >= first; at--)
    if (archive.readUInt32LE(at) === END_SIGNATURE) return at;
  throw new Error("this is not a whole zip archive: its directory is missing");
}

function entryAt(archive: Buffer, at: number, nameBytes: number): ZipEntry {
  const name = archive.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
  const method = archive.readUInt16LE(at + 10);
  const checksum = archive.readUInt32LE(at + 16);
  const packedBytes = archive.readUInt32LE(at + 20);
  const bytes = archive.readUInt32LE(at + 24);
  const localAt = archive.readUInt32LE(at + 42);
  const read = (): Buffer => {
    if (packedBytes === ELSEWHERE || bytes === ELSEWHERE || localAt === ELSEWHERE)
      throw new Error(`${name}: zip archives over 4 GB are not supported`);
    const start = localAt + LOCAL_BYTES + archive.readUInt16LE(localAt + 26) + archive.readUInt16LE(localAt + 28);
    const packed = archive.subarray(start, start + packedBytes);
    const content = unpack(name, method, packed, bytes);
    if (content.length !== bytes || crc32(content) !== checksum)
      throw new Error(`${name} in the zip archive is damaged: its size or checksum is wrong`);
    return content;
  };
  return { name, bytes, read };
}

function unpack(name: string, method: number, packed: Buffer, bytes: number): Buffer {
  if (method === STORED) return packed;
  if (method !== DEFLATED) throw new Error(`${name}: compression method ${method} is not supported`);
  return inflateRawSync(packed, { maxOutputLength: Math.max(bytes, 1) });
}
