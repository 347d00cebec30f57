// How far a Go build is: the compiler names each package when it begins with it. Packages that are compiled already are not named; what remains
// is therefore an upper limit.
const MEGABYTE = 1_000_000;

export interface PackageSize {
  readonly name: string;
  readonly bytes: number;
}

export interface BuildProgress {
  /** A line of the compiler's output. */
  started(line: string): void;
  /** E.g. `34 of 101 MB of source, 812 of 2750 packages, about 150 s left`. */
  text(): string;
}

/** Before this part is compiled, the pace says nothing about the rest. */
const PART_FOR_ESTIMATE = 0.05;
/**
 * The packages that begin first are small, and the commands that are linked last take long. In a build of 241 s the part of the time that had
 * passed was that of the packages to this power; the bytes of source promised half of what was left.
 */
const LATER_PACKAGES_TAKE_LONGER = 1.3;

export function createBuildProgress(
  packages: readonly PackageSize[],
  nowMs: () => number = () => performance.now(),
): BuildProgress {
  const startedMs = nowMs();
  const waiting = new Map(packages.map(({ name, bytes }) => [name, bytes]));
  const total = packages.reduce((sum, { bytes }) => sum + bytes, 0);
  let bytesBegun = 0;
  let last = 0;
  return {
    started(line) {
      const bytes = waiting.get(line.trim());
      if (bytes === undefined) return;
      waiting.delete(line.trim());
      // The one that begins now is not done yet.
      bytesBegun += last;
      last = bytes;
    },
    text() {
      const begun = packages.length - waiting.size;
      const part = (begun / packages.length) ** LATER_PACKAGES_TAKE_LONGER;
      const leftSeconds = Math.round(((nowMs() - startedMs) / 1000) * (1 / part - 1));
      const estimate = part < PART_FOR_ESTIMATE ? "" : `, about ${leftSeconds} s left`;
      const rest = waiting.size === 0 ? ", linking" : estimate;
      return `${inMegabytes(bytesBegun)} of ${inMegabytes(total)} MB of source, ${begun} of ${packages.length} packages${rest}`;
    },
  };
}

const inMegabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0);
