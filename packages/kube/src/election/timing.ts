// The three durations of leader election and the order they must keep: a holder gives up (renew deadline) well before others
// may take over (lease), and has tried more than once by then (retry).

/** The three durations of leader election. */
export interface ElectionTiming {
  /** Others may take the lease when it has not changed for this long. Written to the lease in whole seconds. */
  readonly leaseMs: number;
  /** A holder that has not renewed for this long stops acting. */
  readonly renewDeadlineMs: number;
  /** Pause between attempts, stretched at random by up to a fifth. */
  readonly retryMs: number;
}

/** The durations that controllers usually have: 15 s, 10 s, 2 s. */
export const DEFAULT_ELECTION_TIMING: ElectionTiming = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

export const RETRY_JITTER = 1.2;

/** What is wrong with the durations, in the words of the flags that set them. */
export function validateElectionTiming({ leaseMs, renewDeadlineMs, retryMs }: ElectionTiming): readonly string[] {
  const violations: string[] = [];
  const lease = `--leader-election-lease-duration (${leaseMs / 1000}s)`;
  const renew = `--leader-election-renew-deadline (${renewDeadlineMs / 1000}s)`;
  const retry = `--leader-election-retry-period (${retryMs / 1000}s)`;
  if (!(leaseMs >= 1000)) violations.push(`${lease} must be at least 1s`);
  if (!(retryMs > 0)) violations.push(`${retry} must be longer than 0s`);
  if (!(leaseMs > renewDeadlineMs)) violations.push(`${lease} must be longer than ${renew}`);
  if (!(renewDeadlineMs > retryMs * RETRY_JITTER))
    violations.push(`${renew} must be longer than ${RETRY_JITTER} times ${retry}`);
  return violations;
}
