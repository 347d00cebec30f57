// The three durations of leader election and their required order: a holder stops acting (renew deadline) well before
// others may take over (lease duration), after more than one attempt (retry period).

/** The three durations of leader election. */
export interface ElectionTiming {
  /** Others may acquire the lease if it has not changed for this long. Written to the lease in whole seconds. */
  readonly leaseMs: number;
  /** A holder that has not renewed for this long stops acting. */
  readonly renewDeadlineMs: number;
  /** Pause between attempts, extended at random by up to a fifth. */
  readonly retryMs: number;
}

/** The usual durations of controllers: 15 s, 10 s, 2 s. */
export const DEFAULT_ELECTION_TIMING: ElectionTiming = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

export const RETRY_JITTER = 1.2;

/** Problems with the durations, in terms of the flags that set them. */
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
