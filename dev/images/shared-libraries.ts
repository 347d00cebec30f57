// The shared libraries that programs need, as the machine's loader finds them, with the packages that own them where
// the system knows.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface SharedLibrary {
  /** Where programs look for it. */
  readonly path: string;
  readonly content: Buffer;
}

export interface SystemPackage {
  readonly name: string;
  readonly version: string;
  /** Text of its licence, where it is installed. */
  readonly copyright: string | undefined;
}

/** Loaded by the C library by name when a program looks up a host; inside the library itself since glibc 2.34. */
const NAME_SERVICE = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];

export function sharedLibrariesOf(...programs: readonly string[]): readonly SharedLibrary[] {
  const found = execFileSync("ldd", [...programs], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => /(?:=>\s+)?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  const libc = found.find((path) => basename(path).startsWith("libc.so"));
  if (libc === undefined)
    throw new Error(`no C library for ${programs.join(", ")}: are they programs for this machine?`);
  const named = NAME_SERVICE.map((name) => join(dirname(libc), name)).filter((path) => existsSync(path));
  return [...new Set([...found, ...named])].sort().map((path) => ({ path, content: readFileSync(path) }));
}

/** Empty where there is no dpkg. */
export function packagesOf(libraries: readonly SharedLibrary[]): readonly SystemPackage[] {
  const names = new Set(libraries.flatMap(({ path }) => ownerOf(path) ?? []));
  return [...names].sort().map((name) => {
    const version = query(["-W", `-f=\${Version}`, name]) ?? "unknown";
    const file = `/usr/share/doc/${name.split(":")[0]}/copyright`;
    return { name, version, copyright: existsSync(file) ? readFileSync(file, "utf8") : undefined };
  });
}

function ownerOf(path: string): string | undefined {
  // A file below a merged /usr may be recorded under either name.
  const names = [
    path,
    realpathSync(path),
    path.replace(/^\/usr/, ""),
    `/usr${path}`,
    realpathSync(path).replace(/^\/usr/, ""),
  ];
  for (const name of names) {
    const owner = query(["-S", name])?.split(": ")[0];
    if (owner !== undefined) return owner.split(":")[0];
  }
  return undefined;
}

function query(args: readonly string[]): string | undefined {
  try {
    return execFileSync("dpkg-query", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined; // Not a Debian system, or no package has the file: then nothing is claimed.
  }
}
