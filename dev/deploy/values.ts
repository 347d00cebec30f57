// Values of a chart, as data. Pure.

export type Values = Readonly<Record<string, unknown>>;

export const UNCACHED_SETTLE_SECONDS = 5;
/**
 * For a cluster whose DNS server caches nothing, such as the local one: gateways resolve names every 2 s, and after 5 s
 * none of them has an address from before a switch. Elsewhere the chart's default applies.
 */
export const UNCACHED_NAMES = { controllers: { drainSettle: `${UNCACHED_SETTLE_SECONDS}s` } } as const satisfies Values;

/** Objects merge, everything else is replaced. */
export function mergeValues(base: Values, over: Values = {}): Values {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isValues(below) && isValues(value) ? mergeValues(below, value) : value;
  }
  return merged;
}

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
