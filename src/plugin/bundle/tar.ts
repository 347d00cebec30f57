// A tar archive in memory, in the plain ustar form that every tar reads. Regular files only; names up to 255 bytes.

export interface TarFile {
  readonly path: string;
  readonly content: string | Buffer;
  /** Default: readable by the owner only. */
  readonly mode?: number;
}

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

export function createTar(files: readonly TarFile[], modifiedMs: number): Buffer {
  const blocks = files.flatMap(({ path, content, mode = 0o600 }) => {
    const body = Buffer.from(content);
    return [
      header(path, { size: body.length, mode, modifiedMs }),
      body,
      Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK),
    ];
  });
  // Two empty blocks mark the end.
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

interface Entry {
  readonly size: number;
  readonly mode: number;
  readonly modifiedMs: number;
}

function header(path: string, { size, mode, modifiedMs }: Entry): Buffer {
  const { name, prefix } = splitPath(path);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, offset: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset, "ascii");
  };
  block.write(name, 0, "utf8");
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(modifiedMs / 1000), 136, 12);
  block.write("        ", 148, "ascii");
  block.write("0", 156, "ascii");
  block.write("ustar\0" + "00", 257, "ascii");
  block.write(prefix, 345, "utf8");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "ascii");
  return block;
}

/** A long path is stored in two fields, split at a slash. */
function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { name: path, prefix: "" };
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (Buffer.byteLength(name) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES) return { name, prefix };
  }
  throw new RangeError(`the path is too long for a tar archive: ${path}`);
}
