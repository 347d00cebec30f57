// How many requests may be held at once (docs/design/auto-stop.md#holding-queries): Envoy keeps the body of a held
// request in memory. Pure.

export interface CapacityInput {
  /** Envoy's memory limit; 0 when it has none. */
  readonly envoyLimitBytes: number;
  /** What Envoy has allocated; undefined before the first reading. */
  readonly envoyAllocatedBytes: number | undefined;
  /** The most that one held request may occupy. */
  readonly perHoldBytes: number;
  /** Without a memory limit. */
  readonly fallback: number;
  /** The agent's own memory limit; undefined without one. */
  readonly ownLimitBytes?: number | undefined;
}

const MOST_HOLDS = 100_000;
/** The share of Envoy's memory that held requests may occupy, and the share that it uses anyway. */
const SHARE = 1 / 4;
/**
 * To the agent a held request is a connection and a timer. They may use an eighth of its own memory: 1024 holds in 256
 * MiB. The rest is for the engines that it watches and publishes.
 */
const OWN_BYTES_PER_HOLD = 32 * 1024;
const OWN_SHARE = 1 / 8;

/** 0: no request is held, all are shed. */
export function holdCapacity(input: CapacityInput): number {
  const { ownLimitBytes } = input;
  const own = ownLimitBytes === undefined ? MOST_HOLDS : (ownLimitBytes * OWN_SHARE) / OWN_BYTES_PER_HOLD;
  return Math.floor(Math.max(0, Math.min(envoyCapacity(input), own, MOST_HOLDS)));
}

function envoyCapacity({ envoyLimitBytes, envoyAllocatedBytes = 0, perHoldBytes, fallback }: CapacityInput): number {
  if (envoyLimitBytes <= 0 || perHoldBytes <= 0) return fallback;
  const share = envoyLimitBytes * SHARE;
  const excess = Math.max(0, envoyAllocatedBytes - share);
  return (share - excess) / perHoldBytes;
}
