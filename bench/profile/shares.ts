// Sums amounts by name, largest first.

export interface Share {
  readonly name: string;
  readonly amount: number;
}

/** Amounts beyond the limit become one share, so that the sum stays the same. */
export function largestShares(amounts: ReadonlyMap<string, number>, limit: number): readonly Share[] {
  const sorted = [...amounts]
    .map(([name, amount]) => ({ name, amount }))
    .sort((one, other) => other.amount - one.amount);
  const rest = sorted.slice(limit);
  const more = { name: `${rest.length} more`, amount: rest.reduce((sum, { amount }) => sum + amount, 0) };
  return rest.length === 0 ? sorted : [...sorted.slice(0, limit), more];
}

export function addTo(amounts: Map<string, number>, name: string, amount: number): void {
  amounts.set(name, (amounts.get(name) ?? 0) + amount);
}
