// Orders resource versions. They are opaque strings by contract, but API servers backed by etcd use decimal numbers,
// and the cache must distinguish old from new. Anything else is incomparable, never guessed at.

const DECIMAL = /^(?:0|[1-9][0-9]*)$/;

/** Negative, zero or positive like a sort callback; undefined when the two cannot be ordered. */
export function compareVersions(left: string, right: string): number | undefined {
  if (left === right) return 0;
  if (!DECIMAL.test(left) || !DECIMAL.test(right)) return undefined;
  // By length first: versions may outgrow the integers a double can hold.
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}

/** True only if both are comparable and the first is the older one. */
export function isOlder(left: string, right: string): boolean {
  const order = compareVersions(left, right);
  return order !== undefined && order < 0;
}

/** True only if both are comparable and the first is the newer one. */
export function isNewer(left: string, right: string): boolean {
  return isOlder(right, left);
}

/** True if the first cannot be newer than the second: the same version or an older one. */
export function isNotNewer(left: string, right: string): boolean {
  const order = compareVersions(left, right);
  return order !== undefined && order <= 0;
}
